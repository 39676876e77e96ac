// SPDX-License-Identifier: Apache-2.0

extension DeviceIdentity {
    /// Signs a request, in the version that the service takes at its host.
    ///
    /// In version 1 only method, path and body are signed. In version 2 the rest is, too; requests that are under way at
    /// the same time then share the commands of the key by themselves (docs/signing.md).
    ///
    /// - Parameters:
    ///   - method: `[A-Z]`, as it is sent.
    ///   - path: the path without a query: in version 1 as the service mounts it, in version 2 as it is sent.
    ///   - body: the very bytes that are sent.
    ///   - host: as in the URL, in lower case, with the port unless it is the scheme's own; nil is the service's host.
    ///   - query: as it is sent, without its question mark; nil for a request without a query.
    ///   - contentType: the value of `Content-Type`; nil exactly if the request is sent without it.
    ///   - contentEncoding: the value of `Content-Encoding`; nil exactly if the request is sent without it.
    /// - Throws: ``TenonError/Code/notRegistered``, ``TenonError/Code/deviceRevoked``,
    ///   ``TenonError/Code/keyInvalidated``, ``TenonError/Code/batchFull``, ``TenonError/Code/deadline``, or what the key
    ///   says.
    public func sign(
        _ method: String, path: String, body: [UInt8] = [], host: String? = nil, query: String? = nil,
        contentType: String? = nil, contentEncoding: String? = nil
    ) async throws(TenonError) -> SignedRequest {
        try await sign(
            RequestParts(
                method, path: path, host: host, query: query, contentType: contentType,
                contentEncoding: contentEncoding), body: body)
    }

    /// Does the same on the caller's thread, and blocks it. Asynchronous code gets the other function.
    public func sign(
        _ method: String, path: String, body: [UInt8] = [], host: String? = nil, query: String? = nil,
        contentType: String? = nil, contentEncoding: String? = nil
    ) throws(TenonError) -> SignedRequest {
        try sign(
            RequestParts(
                method, path: path, host: host, query: query, contentType: contentType,
                contentEncoding: contentEncoding), body: body)
    }

    /// Signs a request with these parts.
    package func sign(_ parts: RequestParts, body: [UInt8]) async throws(TenonError) -> SignedRequest {
        let signer = try await signer()
        return try await sign(UnsignedRequest(parts, body, for: signer), by: signer)
    }

    /// Begins a request whose body is hashed as it comes. The parameters are those of
    /// ``sign(_:path:body:host:query:contentType:contentEncoding:)-(_,_,_,_,_,_,_)``.
    public func request(
        _ method: String, path: String, host: String? = nil, query: String? = nil, contentType: String? = nil,
        contentEncoding: String? = nil
    ) async throws(TenonError) -> RequestSigner {
        try await request(
            RequestParts(
                method, path: path, host: host, query: query, contentType: contentType,
                contentEncoding: contentEncoding))
    }

    /// The same on the caller's thread, which it blocks.
    public func request(
        _ method: String, path: String, host: String? = nil, query: String? = nil, contentType: String? = nil,
        contentEncoding: String? = nil
    ) throws(TenonError) -> RequestSigner {
        try request(
            RequestParts(
                method, path: path, host: host, query: query, contentType: contentType,
                contentEncoding: contentEncoding))
    }

    /// The same on the caller's thread, which it blocks.
    package func sign(_ parts: RequestParts, body: [UInt8]) throws(TenonError) -> SignedRequest {
        let signer = try signer()
        return try sign(UnsignedRequest(parts, body, for: signer), by: signer)
    }

    /// The same on the caller's thread, which it blocks.
    package func request(_ parts: RequestParts) throws(TenonError) -> RequestSigner {
        RequestSigner(self, try UnsignedRequest(parts, nil, for: signer()))
    }

    /// Begins a request with these parts.
    package func request(_ parts: RequestParts) async throws(TenonError) -> RequestSigner {
        RequestSigner(self, try UnsignedRequest(parts, nil, for: await signer()))
    }

    /// The key that signs now. A key that was given up is tried again: its TPM may be back.
    func signingKey() async throws(TenonError) -> SigningFacts {
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

    private func blockingSigningKey() throws(TenonError) -> SigningFacts {
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
        let facts = try await signingKey()
        let key = facts.key
        let loaded: any DeviceKey
        do throws(TenonError) {
            if let kept = kept(key.facts) {
                loaded = kept
            } else {
                loaded = try await context.vault.unseenKey(key.facts)
                keep(loaded, key.facts)
            }
        } catch  where error.category == .gone {
            throw await markInvalidWaiting(key.generation)
        }
        return signer(loaded, facts)
    }

    /// The key that may sign now; it blocks the caller's thread.
    func signer() throws(TenonError) -> Signer {
        let facts = try blockingSigningKey()
        let key = facts.key
        let loaded: any DeviceKey
        do throws(TenonError) {
            if let kept = kept(key.facts) {
                loaded = kept
            } else {
                loaded = try context.vault.blockingUnseenKey(key.facts)
                keep(loaded, key.facts)
            }
        } catch  where error.category == .gone {
            throw markInvalidBlocking(key.generation)
        }
        return signer(loaded, facts)
    }

    private func signer(_ loaded: any DeviceKey, _ facts: SigningFacts) -> Signer {
        Signer(
            key: loaded, generation: facts.key.generation, appID: appID, deviceID: facts.deviceID,
            time: facts.time, terms: facts.terms, context: context)
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
