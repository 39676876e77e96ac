// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A service in memory, and the network in front of it, which does with each request what a test wants.
package protocol FatedService: Transport {
    /// Notes a request that left the device, and says what becomes of it.
    func fate(of request: HTTPRequest) -> ScriptedService.Fate
    /// Carries out a request.
    func answer(_ request: HTTPRequest) -> HTTPResponse
    /// The body of an answer with this code.
    func body(code: String?) -> JSON
    func response(_ status: Int, _ body: JSON, _ headers: [(name: String, value: String)]) -> HTTPResponse
    /// Changes what the network holds back.
    func changeLate<Value: Sendable>(_ body: (inout [HTTPRequest]) -> Value) -> Value
}

extension FatedService {
    package func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        try exchange(request)
    }

    package func exchange(_ request: HTTPRequest) throws(TenonError) -> HTTPResponse {
        switch fate(of: request) {
        case .arrives: return answer(request)
        case .notSent: throw TenonError(.httpConnect, message: "Nobody is there.")
        case .requestLost: break
        case .answerLost: _ = answer(request)
        case .late: changeLate { $0.append(request) }
        case .answers(let status, let code, let headers): return response(status, body(code: code), headers)
        case .garbled:
            _ = answer(request)
            return response(200, ["status": "who knows"], [])
        case .denied(let status, let code):
            _ = answer(request)
            return response(status, body(code: code), [])
        }
        throw TenonError(.httpNoAnswer, message: "The connection ended.")
    }

    package func body(code: String?) -> JSON { code.map { ["code": .string($0)] } ?? [:] }

    /// Delivers the requests that the network held back.
    package func deliverLate() {
        let late = changeLate { late in
            defer { late = [] }
            return late
        }
        for request in late { _ = answer(request) }
    }
}
