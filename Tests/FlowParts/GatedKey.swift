// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// What stands between a key and its requests of version 2: it counts commands, holds them back, and lets them fail.
package final class SigningGate: Sendable {
    private struct State {
        var isOpen = true
        var held: [CheckedContinuation<Void, Never>] = []
        var sizes: [Int] = []
        var faults: [TenonError] = []
        var afterTaking: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    fileprivate let thread = WorkThread()

    package init() {}

    /// The commands that signed: 0 for a request alone, else the members of the batch.
    package var sizes: [Int] { state.withLock { $0.sizes } }
    /// How many commands are held back.
    package var held: Int { state.withLock { $0.held.count } }

    /// From now on, commands wait until the gate is opened.
    package func close() { state.withLock { $0.isOpen = false } }

    package func open() {
        let held = state.withLock { state in
            defer { (state.isOpen, state.held) = (true, []) }
            return state.held
        }
        for command in held { command.resume() }
    }

    /// Lets those pass that are held back now, and no other.
    package func passOne() {
        state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }?.resume()
    }

    /// The next commands fail so.
    package func fail(_ errors: TenonError...) { state.withLock { $0.faults += errors } }

    /// Called once, on the thread that signs, when the members of the next batch are settled.
    package func afterTaking(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.afterTaking = body } }

    fileprivate func taken() {
        let body = state.withLock { state in
            defer { state.afterTaking = nil }
            return state.afterTaking
        }
        body?()
    }

    fileprivate func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.held.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    fileprivate func check() throws(TenonError) {
        if let error = state.withLock({ $0.faults.isEmpty ? nil : $0.faults.removeFirst() }) { throw error }
    }

    fileprivate func count(_ size: Int) { state.withLock { $0.sizes.append(size) } }
}

/// A key in memory behind a gate. Messages of version 1 do not pass it.
struct GatedKey: DeviceKey {
    let key: SoftwareKey
    let gate: SigningGate

    var publicKey: PublicKey { key.publicKey }
    var isHardware: Bool { true }

    func signature(for message: SignableMessage) async throws(TenonError) -> Signature {
        try await key.signature(for: message)
    }

    func blockingSignature(for message: SignableMessage) throws(TenonError) -> Signature {
        try key.blockingSignature(for: message)
    }

    func signature(for base: SignatureBase) async throws(TenonError) -> Signature {
        await gate.pass()
        return try blockingSignature(for: base)
    }

    func blockingSignature(for base: SignatureBase) throws(TenonError) -> Signature {
        try gate.check()
        gate.count(0)
        return try key.blockingSignature(for: base)
    }

    /// As in a TPM, the members are asked for when the turn has come.
    func signature(for batch: RequestBatch) async throws(TenonError) -> BatchSignature {
        await gate.pass()
        return try await gate.thread.run { [key, gate] () throws(TenonError) in
            let counted = RequestBatch { () throws(TenonError) in
                let taken = try batch.members()
                gate.taken()
                if !taken.isEmpty {
                    try gate.check()
                    gate.count(taken.count)
                }
                return taken
            }
            return try key.key.signature(for: counted)
        }
    }
}
