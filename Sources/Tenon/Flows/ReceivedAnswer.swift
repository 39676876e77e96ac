// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// The next step after an answer to a signed request.
public enum ReceivedAnswer: Sendable {
    /// The answer says nothing about the device, or nothing that can be helped.
    case done
    /// Send the request once more, with these headers.
    case resend(SignedRequest)
    /// The device cannot sign for this service.
    case stop(TenonError)
}

extension DeviceIdentity {
    /// Reports a service's answer to a signed request, which may help: a clock that is wrong, a rotation that is
    /// not settled, a device that was revoked. The answer itself is not believed: the auth service is asked then.
    /// A 401 without a code is a reason to ask only while something is open; a success never proves anything.
    /// This waits for some seconds if the auth service says that it has just started.
    ///
    /// A host may say in any answer over TLS that it takes signature version 2 (docs/signing.md). It is heard if the
    /// request was signed by its URL, or is for the service's own host; check the host's certificate, and pass on the
    /// answer of no other host.
    public func received(
        status: Int, headers: [(name: String, value: String)], body: [UInt8], for request: SignedRequest
    ) async -> ReceivedAnswer {
        let now = context.clock.moment()
        let answer = HTTPResponse(status: status, headers: headers, body: body, sent: now, received: now)
        hosts.withLock { $0.follow(answer, of: secureHost(of: request), at: now.continuous) }
        let wasOpen = await isOpen()
        guard let verdict = verdict(answer, isOpen: wasOpen) else { return .done }
        guard verdict != .formRefused else { return await inPlainForm(request) }
        var failure: TenonError?
        do throws(TenonError) {
            switch verdict {
            case .nonceReplay: break
            case .keyExpired: try await renew(request.generation)
            default: try await resolve()
            }
        } catch {
            failure = error
        }
        do throws(TenonError) {
            // Also where nothing was settled another key may sign now, and one that was tried may be the one that is
            // held.
            let isHeldNow = wasOpen ? await !isOpen() : false
            let mayHelp = failure == nil && (isHeldNow || verdict != .keyRefused)
            let advice = try await again(request, verdict, mayHelp: mayHelp)
            if case .resend = advice { return advice }
        } catch {
            failure = failure ?? error
        }
        // A key that is too old, and that the service does not change, is of no use to this device.
        let isTooOld = verdict == .keyExpired && failure?.code == .rotationFailed
        guard let failure, failure.isOfDevice || isTooOld else { return .done }
        return .stop(failure)
    }

    /// The meaning of an answer that requires an action; nil if none is required.
    private func verdict(_ answer: HTTPResponse, isOpen: Bool) -> ServiceVerdict? {
        guard let refusal = context.profile.refusal(in: answer) else { return nil }
        if let verdict = refusal.verdict {
            let meant: [ServiceVerdict] = [.nonceReplay, .clockSkew, .keyRefused, .keyExpired, .revoked, .formRefused]
            return meant.contains(verdict) ? verdict : nil
        }
        return answer.status == 401 && isOpen ? .keyRefused : nil
    }

    /// The host that a request was sent to over TLS; nil if it is not known how it was sent.
    private func secureHost(of request: SignedRequest) -> String? {
        guard let host = request.parts.host else {
            return context.origin.hasPrefix("https:") ? context.authority : nil
        }
        return request.parts.isSecure ? host : nil
    }

    /// A host that refused a batch gets no other, and this request once more in the plain form; never in version 1.
    private func inPlainForm(_ request: SignedRequest) async -> ReceivedAnswer {
        guard let form = request.form else { return .done }
        // Afterwards: the host may be one that had added itself.
        defer { hosts.withLock { $0.refuse(request.parts.host ?? context.authority) } }
        guard form == .batch, !request.isSecond, let body = request.body else { return .done }
        var parts = request.parts
        parts.form = .plain
        do throws(TenonError) {
            let signer = try await signer()
            return .resend(try await sign(UnsignedRequest(parts, body, for: signer, isSecond: true), by: signer))
        } catch {
            return error.isOfDevice ? .stop(error) : .done
        }
    }

    /// Whether there is a doubt about which key the service holds.
    private func isOpen() async -> Bool {
        let record = try? await context.disk.run { () throws(TenonError) in try self.record() }
        return record?.reason == .rotationPending || record?.refusedAt != nil
    }

    /// Asks the service whether it accepts this device's signatures, and settles what is open: the clock, which key
    /// it holds, whether the device was revoked. For an application that was told that something is wrong. What it was
    /// told, for example the time, is not believed (decision: own-endpoints, clock-offset).
    public func resolve() async throws(TenonError) {
        try await operate(.resolve) { flow throws(TenonError) in try await flow.resolve() }
    }

    /// Changes the key that signed, if it still is the one that signs, and is old enough to be too old for anybody.
    private func renew(_ generation: Int) async throws(TenonError) {
        try await operate(.renew) { flow throws(TenonError) in
            let limit = flow.context.limits.youngestExpired.components.seconds
            guard let current = flow.record.key(.current), current.generation == generation,
                let since = flow.record.keyRotatedAt ?? flow.record.registeredAt, flow.serviceTime - since >= limit
            else { return }
            _ = try await flow.rotate()
        }
    }

    /// The request once more, where something changed since it was signed.
    private func again(
        _ request: SignedRequest, _ verdict: ServiceVerdict, mayHelp: Bool
    ) async throws(TenonError) -> ReceivedAnswer {
        guard !request.isSecond, let body = request.body else { return .done }
        let signer = try await signer()
        let second = try await sign(
            UnsignedRequest(request.parts, body, for: signer, isSecond: true), by: signer)
        let needsOther = verdict == .keyExpired
        guard verdict != .revoked, mayHelp && !needsOther || second.generation != request.generation else {
            return .done
        }
        return .resend(second)
    }
}

extension TenonError {
    /// Whether it is the device that cannot sign. That the service could not be asked, or did not say, says nothing of
    /// it.
    fileprivate var isOfDevice: Bool {
        !mayBeTriedAgain && ![.serviceAnswer, .serviceRefused, .rotationOpen, .rotationFailed].contains(code)
    }
}
