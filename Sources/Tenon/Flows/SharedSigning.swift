// SPDX-License-Identifier: Apache-2.0

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

    private func sign(
        _ request: UnsignedRequest, _ content: Digest, _ form: RequestForm?, in line: RequestLine, by signer: Signer
    ) async throws(TenonError) -> SignedRequest {
        let target = request.parts.target(at: signer.host)
        let (base, value) = try await line.sign(taken(form, at: target.authority)) { form throws(TenonError) in
            try SignatureBase(
                target, content: content, appID: signer.appID, deviceID: signer.deviceID, thumbprint: line.thumbprint,
                created: signer.time, form: form)
        }
        return try signer.signed(request, SignatureHeaders(base, value))
    }

    private func blockingSign(
        _ request: UnsignedRequest, _ content: Digest, _ form: RequestForm?, in line: RequestLine, by signer: Signer
    ) throws(TenonError) -> SignedRequest {
        let target = request.parts.target(at: signer.host)
        let (base, value) = try line.blockingSign(taken(form, at: target.authority)) { form throws(TenonError) in
            try SignatureBase(
                target, content: content, appID: signer.appID, deviceID: signer.deviceID, thumbprint: line.thumbprint,
                created: signer.time, form: form)
        }
        return try signer.signed(request, SignatureHeaders(base, value))
    }

    /// A host that refused a batch gets no other.
    private func taken(_ form: RequestForm?, at host: String) -> RequestForm? { takesBatches(host) ? form : .plain }

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
