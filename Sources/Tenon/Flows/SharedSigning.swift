// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

// What was hashed is signed: in version 1 by a command of its own, in version 2 in the line for the key.
extension DeviceIdentity {
    /// Signs what was begun.
    func sign(_ request: UnsignedRequest, by signer: Signer) async throws(TenonError) -> SignedRequest {
        switch request.hashed {
        case .version1(let message, let timestamp):
            do throws(TenonError) {
                let signature = try await signer.key.signature(for: .request(message))
                return try signer.signed(request, signature, timestamp: timestamp)
            } catch  where error.category == .gone {
                throw await markInvalidWaiting(signer.generation)
            }
        case .version2(var content, let form):
            let content = try content.finish()
            do throws(TenonError) {
                return try await sign(request, content, form, in: line(of: signer), by: signer)
            } catch  where error.code == .keyID {
                // The key was changed while the request waited. It is hashed anew, for the new key, once.
                let signer = try await self.signer()
                return try await sign(request, content, form, in: line(of: signer), by: signer)
            }
        }
    }

    /// Signs what was begun on the caller's thread, which it blocks.
    func sign(_ request: UnsignedRequest, by signer: Signer) throws(TenonError) -> SignedRequest {
        do throws(TenonError) {
            switch request.hashed {
            case .version1(let message, let timestamp):
                let signature = try signer.key.blockingSignature(for: .request(message))
                return try signer.signed(request, signature, timestamp: timestamp)
            case .version2(var content, let form):
                let content = try content.finish()
                do throws(TenonError) {
                    return try blockingSign(request, content, form, in: line(of: signer), by: signer)
                } catch  where error.code == .keyID {
                    let signer = try self.signer()
                    return try blockingSign(request, content, form, in: line(of: signer), by: signer)
                }
            }
        } catch  where error.category == .gone && error.code != .keyInvalidated {
            throw markInvalidBlocking(signer.generation)
        }
    }

    /// Signs requests that came together, each as if it were alone; but those that may share a signature do from the first
    /// one on, so an idle key signs them with one command.
    package func sign(_ requests: [(parts: RequestParts, body: [UInt8])]) async -> [Result<SignedRequest, TenonError>] {
        // What went wrong for all of them is found again for each.
        let shared = (try? await share(requests)) ?? requests.map { _ in nil }
        let tasks = zip(requests, shared).map { request, known in
            Task { () async -> Result<SignedRequest, TenonError> in
                if let known { return known }
                do throws(TenonError) {
                    return .success(try await self.sign(request.parts, body: request.body))
                } catch {
                    return .failure(error)
                }
            }
        }
        var outcomes: [Result<SignedRequest, TenonError>] = []
        for task in tasks { outcomes.append(await task.value) }
        return outcomes
    }

    /// Signs those of the requests that may share a signature. nil for the others, and for one that has to be hashed anew
    /// because the key was changed while it waited.
    private func share(
        _ requests: [(parts: RequestParts, body: [UInt8])]
    ) async throws(TenonError) -> [Result<SignedRequest, TenonError>?] {
        let signer = try await signer()
        let line = try line(of: signer)
        let members = requests.map { try? member($0.parts, $0.body, of: line, by: signer) }
        let bases = members.compactMap { $0?.base }
        guard bases.count > 1 else { return members.map { _ in nil } }
        var values = try await line.sign(bases)[...]
        return members.map { member in
            guard let member, let value = values.popFirst() else { return nil }
            if case .failure(let error) = value, error.code == .keyID { return nil }
            return Result { () throws(TenonError) in
                try signer.signed(member.request, SignatureHeaders(member.base, value.get()))
            }
        }
    }

    /// A request as a member of a batch; nil if it is signed in another way.
    private func member(
        _ parts: RequestParts, _ body: [UInt8], of line: RequestLine, by signer: Signer
    ) throws(TenonError) -> (request: UnsignedRequest, base: SignatureBase)? {
        let request = try UnsignedRequest(parts, body, for: signer)
        guard case .version2(var content, let form) = request.hashed else { return nil }
        guard taken(form, at: parts.target(at: signer.host).authority) != .plain else { return nil }
        return (request, try base(of: request, try content.finish(), .batch, line, signer))
    }

    private func base(
        of request: UnsignedRequest, _ content: Digest, _ form: RequestForm, _ line: RequestLine, _ signer: Signer
    ) throws(TenonError) -> SignatureBase {
        try SignatureBase(
            request.parts.target(at: signer.host), content: content, appID: signer.appID, deviceID: signer.deviceID,
            thumbprint: line.thumbprint, created: signer.time, form: form)
    }

    private func sign(
        _ request: UnsignedRequest, _ content: Digest, _ form: RequestForm?, in line: RequestLine, by signer: Signer
    ) async throws(TenonError) -> SignedRequest {
        let host = request.parts.target(at: signer.host).authority
        let (base, value) = try await line.sign(taken(form, at: host)) { form throws(TenonError) in
            try self.base(of: request, content, form, line, signer)
        }
        return try signer.signed(request, SignatureHeaders(base, value))
    }

    private func blockingSign(
        _ request: UnsignedRequest, _ content: Digest, _ form: RequestForm?, in line: RequestLine, by signer: Signer
    ) throws(TenonError) -> SignedRequest {
        let host = request.parts.target(at: signer.host).authority
        let (base, value) = try line.blockingSign(taken(form, at: host)) { form throws(TenonError) in
            try self.base(of: request, content, form, line, signer)
        }
        return try signer.signed(request, SignatureHeaders(base, value))
    }

    /// A host that refused a batch gets no other.
    private func taken(_ form: RequestForm?, at host: String) -> RequestForm? {
        hosts.withLock { $0.takesBatches(host) } ? form : .plain
    }

    /// The line for the key that signs now.
    private func line(of signer: Signer) throws(TenonError) -> RequestLine {
        let limits = RequestLine.Limits(
            most: signer.terms?.mostMembers ?? RequestBatch.mostMembers, patience: context.limits.line)
        let generation = signer.generation
        return try keptLine(signer.key, limits) { () throws(TenonError) in
            try RequestLine(
                signer.key, limits,
                isCurrent: { [weak self] () throws(TenonError) in
                    guard let self else { return true }
                    return try signing().key.generation == generation
                },
                lost: { [weak self] in await self?.markInvalidWaiting(generation) ?? .invalidated })
        }
    }
}
