// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Foundation
import Synchronization
import Tenon
import TenonSynheart
import TestFolders
import Testing

/// Requests of an application by their URL, as its service verifies them.
@Suite struct SigningTests {
    let service = MemoryService()
    private let scratch: ScratchFolder
    let url = "http://localhost/ingest/v1/hsi?a=b#c"

    init() throws { scratch = try ScratchFolder() }

    func identity() async throws -> DeviceIdentity {
        let identity = try DeviceIdentity(
            Synheart(baseURL: "http://localhost/auth", appID: "com.myapp", dialect: .tenon),
            keys: DeviceIdentity.Keys(ScriptedVault()), transport: service, stateDirectory: scratch.path)
        try await identity.register()
        return identity
    }

    func isSigned(_ request: SignedRequest, _ method: String, _ path: String, _ body: [UInt8]) -> Bool {
        let values = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
        return service.state.withLock { $0.isSigned(values, method, path, body) }
    }

    /// Without query and fragment; `/ingest` is taken off only when told.
    @Test func aURLIsSignedByItsPath() async throws {
        let identity = try await identity()
        let body = Array(#"{"a":1}"#.utf8)
        let whole = try await identity.sign("POST", url: url, body: body)
        #expect(isSigned(whole, "POST", "/ingest/v1/hsi", body))
        let stripped = try await identity.sign("POST", url: url, strippingIngest: true, body: body)
        #expect(isSigned(stripped, "POST", "/v1/hsi", body))
        #expect(!isSigned(try await identity.sign("POST", url: url, body: body), "POST", "/v1/hsi", body))
        // A development build says that it is one.
        #if DevMode
            #expect(stripped.headers.count == 7)
        #else
            #expect(stripped.headers.count == 6)
        #endif
    }

    /// The body is hashed as it comes: no part of it is kept.
    @Test func aBodyIsSignedAsItStreams() async throws {
        let identity = try await identity()
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for size in [1000, 4096, 299_999, 300_000] {
            var request = try await identity.request("PUT", url: url, strippingIngest: true)
            for start in stride(from: 0, to: body.count, by: size) {
                try request.update(Array(body[start..<min(start + size, body.count)]))
            }
            #expect(isSigned(try await request.sign(), "PUT", "/v1/hsi", body))
        }
        let empty = try await identity.request("GET", url: url)
        #expect(isSigned(try await empty.sign(), "GET", "/ingest/v1/hsi", []))
    }

    @Test func theCallersThreadMaySignToo() async throws {
        let identity = try await identity()
        let (one, two) = try blocking(identity)
        #expect(isSigned(one, "GET", "/v1/hsi", []))
        #expect(isSigned(two, "POST", "/ingest/v1/hsi", [1, 2, 3]))
    }

    private func blocking(_ identity: DeviceIdentity) throws -> (SignedRequest, SignedRequest) {
        let one = try identity.sign("GET", url: url, strippingIngest: true)
        var request = try identity.request("POST", url: url)
        try request.update([1, 2])
        try request.update([3])
        return (one, try request.sign())
    }

    @Test func aURLThatIsNoneIsNotSigned() async throws {
        let identity = try await identity()
        for (url, code) in [("/v1/hsi", TenonError.Code.httpURL), ("https://h/a/../b", .path)] {
            let error = await #expect(throws: TenonError.self) { try await identity.sign("GET", url: url) }
            #expect(error?.code == code)
            let other = await #expect(throws: TenonError.self) { try await identity.request("GET", url: url) }
            #expect(other?.code == code)
        }
    }
}
