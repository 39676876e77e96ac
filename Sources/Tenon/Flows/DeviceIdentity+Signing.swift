// SPDX-License-Identifier: Apache-2.0

extension DeviceIdentity {
    /// Signs a request.
    ///
    /// - Parameters:
    ///   - method: `[A-Z]`, as it is sent.
    ///   - path: the path as the service mounts it, without a query.
    ///   - body: the very bytes that are sent.
    /// - Throws: ``TenonError/Code/notRegistered``, ``TenonError/Code/deviceRevoked``,
    ///   ``TenonError/Code/keyInvalidated``, or what the key says.
    public func sign(_ method: String, path: String, body: [UInt8] = []) async throws(TenonError) -> SignedRequest {
        try await sign(method, path, body, isSecond: false)
    }

    /// The same on the caller's thread, which it blocks. Not for asynchronous code, which gets the other one.
    public func sign(_ method: String, path: String, body: [UInt8] = []) throws(TenonError) -> SignedRequest {
        let signer = try signer()
        return try sign(UnsignedRequest(method, path, body, signer.timestamp), by: signer)
    }

    /// Begins a request whose body is hashed as it comes.
    public func request(_ method: String, path: String) async throws(TenonError) -> RequestSigner {
        RequestSigner(self, try UnsignedRequest(method, path, nil, await signer().timestamp))
    }

    /// The same on the caller's thread, which it blocks.
    public func request(_ method: String, path: String) throws(TenonError) -> RequestSigner {
        RequestSigner(self, try UnsignedRequest(method, path, nil, signer().timestamp))
    }

    func sign(
        _ method: String, _ path: String, _ body: [UInt8], isSecond: Bool
    ) async throws(TenonError) -> SignedRequest {
        let signer = try await signer()
        return try await sign(UnsignedRequest(method, path, body, signer.timestamp, isSecond: isSecond), by: signer)
    }

    /// Signs what was begun, by the key that may sign now.
    func sign(_ request: UnsignedRequest) async throws(TenonError) -> SignedRequest {
        try await sign(request, by: await signer())
    }

    func sign(_ request: UnsignedRequest) throws(TenonError) -> SignedRequest { try sign(request, by: signer()) }

    private func sign(_ request: UnsignedRequest, by signer: Signer) async throws(TenonError) -> SignedRequest {
        do throws(TenonError) {
            return try signer.signed(request, await signer.key.signature(for: .request(request.message)))
        } catch  where error.category == .gone {
            throw await markInvalidWaiting(signer.generation)
        }
    }

    private func sign(_ request: UnsignedRequest, by signer: Signer) throws(TenonError) -> SignedRequest {
        do throws(TenonError) {
            return try signer.signed(request, signer.key.blockingSignature(for: .request(request.message)))
        } catch  where error.category == .gone {
            throw markInvalidBlocking(signer.generation)
        }
    }

    /// What signs now. A key that was given up is looked at again: its TPM may be back.
    func signingKey() async throws(TenonError) -> (deviceID: String, key: IdentityKey, time: Int64) {
        do throws(TenonError) {
            return try await context.disk.run { () throws(TenonError) in try self.signing() }
        } catch let invalidated where invalidated.code == .keyInvalidated {
            let abandoned = try await context.disk.run { () throws(TenonError) in try self.record()?.abandonedKey }
            guard let key = abandoned else { throw invalidated }
            do throws(TenonError) {
                _ = try await context.vault.key(key.facts)
            } catch  where error.category == .gone {
                throw invalidated
            }
            let held = try await lock()
            defer { held.release() }
            let record = try await context.onDisk { store throws(TenonError) in
                try store.takeUp(key.generation, held)
            }
            context.status.show(IdentityStatus(record))
            return try await context.disk.run { () throws(TenonError) in try self.signing() }
        }
    }

    private func blockingSigningKey() throws(TenonError) -> (deviceID: String, key: IdentityKey, time: Int64) {
        do throws(TenonError) {
            return try signing()
        } catch let invalidated where invalidated.code == .keyInvalidated {
            guard let key = try record()?.abandonedKey else { throw invalidated }
            do throws(TenonError) {
                _ = try context.vault.blockingKey(key.facts)
            } catch  where error.category == .gone {
                throw invalidated
            }
            let held = try context.store.lock.acquire(within: context.limits.lock)
            defer { held.release() }
            context.status.show(IdentityStatus(try context.store.takeUp(key.generation, held)))
            return try signing()
        }
    }

    private func signer() async throws(TenonError) -> Signer {
        let (deviceID, key, time) = try await signingKey()
        let loaded: any DeviceKey
        do throws(TenonError) {
            if let kept = kept(key.facts) {
                loaded = kept
            } else {
                loaded = try await context.vault.key(key.facts)
                keep(loaded, key.facts)
            }
        } catch  where error.category == .gone {
            throw await markInvalidWaiting(key.generation)
        }
        return signer(loaded, deviceID, key, time)
    }

    private func signer() throws(TenonError) -> Signer {
        let (deviceID, key, time) = try blockingSigningKey()
        let loaded: any DeviceKey
        do throws(TenonError) {
            if let kept = kept(key.facts) {
                loaded = kept
            } else {
                loaded = try context.vault.blockingKey(key.facts)
                keep(loaded, key.facts)
            }
        } catch  where error.category == .gone {
            throw markInvalidBlocking(key.generation)
        }
        return signer(loaded, deviceID, key, time)
    }

    private func signer(_ loaded: any DeviceKey, _ deviceID: String, _ key: IdentityKey, _ time: Int64) -> Signer {
        Signer(
            key: loaded, generation: key.generation, appID: appID, deviceID: deviceID, profile: context.profile,
            timestamp: String(time))
    }

    private func markInvalidWaiting(_ generation: Int) async -> TenonError {
        do throws(TenonError) {
            let ekID = try? await context.vault.endorsementKeyID()
            return try await context.onDisk { _ throws(TenonError) in self.markInvalid(generation, ekID) }
        } catch {
            return .invalidated
        }
    }

    private func markInvalidBlocking(_ generation: Int) -> TenonError {
        markInvalid(generation, try? context.vault.blockingEndorsementKeyID())
    }

    /// The key is gone: that is written down, unless somebody is at work on the identity, who will see it too.
    private func markInvalid(_ generation: Int, _ ekID: Digest?) -> TenonError {
        forgetKey()
        guard let held = try? context.store.lock.attempt() else { return .invalidated }
        defer { held.release() }
        let changed = try? context.store.change(held) { record throws(TenonError) in
            guard try record.activeKey(at: context.clock.bootMoment).generation == generation else { return }
            try record.invalidate(because: record.causeOfLoss(ekID: ekID))
        }
        if let changed { context.status.show(IdentityStatus(changed)) }
        return .invalidated(changed?.reason)
    }
}

extension RecordStore {
    /// Restores the key that was given up, if it is still the same one: another process may have changed it meanwhile.
    fileprivate func takeUp(_ generation: Int, _ held: FileLock.Held) throws(TenonError) -> IdentityRecord {
        try change(held) { record throws(TenonError) in
            if record.abandonedKey?.generation == generation { try record.revive() }
        }
    }
}
