// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import Tenon

/// The transport over libcurl.
///
/// `https` with TLS 1.2 or later and a certificate that is checked; `http` to this machine only: loopback and unix
/// sockets. HTTP/1.1. No redirect is followed, no cookie is kept, no environment variable is read, and nothing is sent
/// that was not asked for but `Host`, `User-Agent`, `Accept` and what frames the body. An answer has at most 64 KiB, its
/// headers at most 16 KiB.
///
/// One exchange at a time, in the order in which they are asked for, on a thread that belongs to this value; make more
/// values to have more at once. A connection is kept for 4 s and used again. A fork's child makes its own.
public final class HTTPTransport: Transport {
    private let thread = WorkThread()
    private let handle: Lease<CurlHandle>
    private let options: Options

    /// Connects to nothing yet.
    ///
    /// - Throws: ``TenonError/Code/httpOption``, ``TenonError/Code/memory``.
    public init(_ options: Options = Options()) throws(TenonError) {
        try options.check()
        self.options = options
        handle = try Lease(CurlHandle(), on: thread)
    }

    /// - Throws: as ``Transport`` says. Before anything is sent: ``TenonError/Code/httpURL``, `httpMethod` and
    ///   `httpHeader` for a request that is refused as it is; `httpResolve`, `httpConnect`, `httpConnectTimeout`,
    ///   `tlsHandshake`; `httpProxy`, `tlsTrustFile`; `tlsUntrusted`, `tlsDate`, `tlsHost`, `tlsPin`; `cancelled`;
    ///   `forked`, `memory`. After that: `httpNoAnswer`, `httpTimeout`, `httpCancelled`, `httpTooLarge`,
    ///   `httpMalformed`.
    public func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        guard thread.isOurs else {
            throw TenonError(.forked, message: "Another process made this transport; make one in this process.")
        }
        let call = try Call(request, options, deadline: deadline)
        do throws(TenonError) {
            return try await bounded(call).get()
        } catch  where error.code == .cancelled && call.isLate {
            throw .late
        }
    }

    /// Ends the wait for a turn at the deadline; the turn itself looks at it.
    private func bounded(_ call: Call) async -> Result<HTTPResponse, TenonError> {
        await withTaskGroup(of: Result<HTTPResponse, TenonError>?.self) { group in
            group.addTask { await self.result(of: call) }
            group.addTask {
                try? await Task.sleep(until: call.deadline, clock: .continuous)
                return nil
            }
            var result: Result<HTTPResponse, TenonError>?
            while result == nil, let next = await group.next() {
                group.cancelAll()
                result = next
            }
            return result ?? .failure(.cancelled)
        }
    }

    private func result(of call: Call) async -> Result<HTTPResponse, TenonError> {
        await withTaskCancellationHandler {
            do throws(TenonError) {
                return try await .success(
                    thread.run { () throws(TenonError) in try self.handle.value.perform(call) })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            call.cancel()
            handle.value.wake()
        }
    }
}
