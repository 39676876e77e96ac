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
        let signer = try await signer()
        return try await sign(UnsignedRequest(method, path, body, signer.timestamp), by: signer)
    }

    /// Does the same on the caller's thread, and blocks it. Asynchronous code gets the other function.
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

    /// Signs what was begun.
    func sign(_ request: UnsignedRequest, by signer: Signer) async throws(TenonError) -> SignedRequest {
        do throws(TenonError) {
            return try signer.signed(request, await signer.key.signature(for: .request(request.message)))
        } catch  where error.category == .gone {
            throw await markInvalidWaiting(signer.generation)
        }
    }

    /// Signs what was begun on the caller's thread, which it blocks.
    func sign(_ request: UnsignedRequest, by signer: Signer) throws(TenonError) -> SignedRequest {
        do throws(TenonError) {
            return try signer.signed(request, signer.key.blockingSignature(for: .request(request.message)))
        } catch  where error.category == .gone {
            throw markInvalidBlocking(signer.generation)
        }
    }

    /// The key that signs now. A key that was given up is tried again: its TPM may be back.
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

    /// The key that may sign now.
    func signer() async throws(TenonError) -> Signer {
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

    /// The key that may sign now; it blocks the caller's thread.
    func signer() throws(TenonError) -> Signer {
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

    func markInvalidWaiting(_ generation: Int) async -> TenonError {
        do throws(TenonError) {
            let ekID = try? await context.vault.endorsementKeyID()
            return try await context.onDisk { _ throws(TenonError) in self.markInvalid(generation, ekID) }
        } catch {
            return .invalidated
        }
    }

    func markInvalidBlocking(_ generation: Int) -> TenonError {
        markInvalid(generation, try? context.vault.blockingEndorsementKeyID())
    }

    /// Records that the key is gone, unless another operation has the lock; that one will find out, too.
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

extension IdentityRecord {
    /// Whether a rotation that the service accepted for a later time is in effect.
    enum Acceptance {
        case none, waits, over
        /// The machine was restarted since, or version 1 wrote the record: how much time is left is not known.
        case unknown
    }

    func acceptance(at now: BootMoment) -> Acceptance {
        guard let journal, journal.effectiveAt != nil else { return .none }
        guard let from = journal.effectiveFrom, from.boot == now.boot, !now.boot.isEmpty,
            from.milliseconds &- now.milliseconds <= 86_400_000
        else { return .unknown }
        return now.since(from) == nil ? .waits : .over
    }

    /// The key that signs now. After a rotation that was accepted for a later time, the new key signs from that time
    /// on. If that time is not known any more, the new key signs, too: it will be right for good, the old one only for
    /// a while.
    ///
    /// - Throws: ``TenonError/Code/deviceRevoked``, ``TenonError/Code/keyInvalidated``,
    ///   ``TenonError/Code/registrationPending``, ``TenonError/Code/notRegistered`` (W15).
    package func activeKey(at now: BootMoment) throws(TenonError) -> IdentityKey {
        guard !isRevoked else { throw .revoked }
        switch state {
        case .registered: break
        case .registering where journal?.operation == .rotate: break
        case .keyInvalid: throw .invalidated(cause)
        default: throw journal?.awaitsApproval == true ? .pending : .notRegistered
        }
        let acceptance = acceptance(at: now)
        if signsByNext || acceptance == .over || acceptance == .unknown, let next = key(.next) { return next }
        guard deviceID != nil, let current = key(.current) else { throw .notRegistered }
        return current
    }

    /// When the key is due for a change, in Unix seconds: after the longest age that the service declares, less a time
    /// that depends on this device's own random id, so that devices registered on one day do not all rotate on one day
    /// (W23). A key that was reported as compromised is due at once.
    func rotationDue(_ age: KeyAge, _ limits: FlowLimits) -> Int64? {
        guard let since = keyRotatedAt ?? registeredAt else { return nil }
        guard !isCompromised else { return since }
        guard case .limited(let declared) = age else { return nil }
        let longest = limits.keyAge ?? declared
        let spread = UInt64(limits.keyAgeSpread.components.seconds)
        let chosen = UInt64(deviceLocalID.prefix(8), radix: 16) ?? 0
        return since &+ longest.components.seconds &- Int64(spread == 0 ? 0 : chosen % spread)
    }
}

extension TenonError {
    static let pending = TenonError(
        .registrationPending, message: "The service has not decided about this device. Register again later.")
}
