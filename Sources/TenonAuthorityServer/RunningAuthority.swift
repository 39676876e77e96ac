// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority
internal import TenonTPM

/// An authority whose listeners accept connections.
final class RunningAuthority: Sendable {
    let authority: AuthorityInstance
    private let listeners: Listeners

    /// Starts the authority. Blocks on the disk for a moment.
    ///
    /// - Parameters:
    ///   - acceptsLog: whether to continue with an audit log that differs from the one that was written.
    ///   - headSigned: copies each head of the audit log to another place.
    ///   - told: takes a line for each fault of a store, and for the end of each.
    ///   - refused: takes a line that says why a device was refused.
    init(
        _ configuration: Configuration, in folder: AuthorityFolder, shared: AuthorityInstance.Shared? = nil,
        acceptsLog: Bool = false,
        headSigned: @escaping @Sendable (AuditHead, [UInt8]) -> Void = { _, _ in },
        told: @escaping @Sendable (String) -> Void = { _ in }, refused: (@Sendable (String) -> Void)? = nil
    ) async throws(TenonError) {
        authority = try await AuthorityInstance(
            configuration, in: folder, shared: shared, acceptsLog: acceptsLog, openKey: AuthorityTPM.open,
            headSigned: headSigned, told: told, refused: refused)
        do throws(TenonError) {
            listeners = try Listeners(authority.engine, folder: folder.path)
        } catch {
            await authority.close()
            throw error
        }
    }

    /// The URL at which devices reach it.
    var url: String {
        switch authority.engine.configuration.publicListener {
        case .tcp(let address, _, let tls):
            "\(tls == nil ? "http" : "https")://\(address.contains(":") ? "[\(address)]" : address):\(listeners.publicPort)"
        case .unix(let path): path
        }
    }

    /// Stops like ``stop()``, but gives up after this time, whatever a store or a client does.
    ///
    /// - Returns: false when it gave up. Requests under way then continue, and end with the process.
    func stop(within time: Duration) async -> Bool {
        let (results, end) = AsyncStream.makeStream(of: Bool.self)
        let timer = Task {
            try await Sleep.lasting(time)
            end.yield(false)
        }
        Task {
            await stop()
            end.yield(true)
        }
        defer { timer.cancel() }
        for await isOver in results { return isOver }
        return false
    }

    /// Answers the open requests, stores their changes, and ends.
    func stop() async {
        await listeners.stop()
        await authority.close()
    }
}

/// The TPM that may hold the CA's key (decision: authority-keys). An operator names it, and may name a software TPM;
/// the key is as safe as that TPM.
enum AuthorityTPM {
    /// Makes a key. Blocks.
    static func makeKey(_ name: String) throws(TenonError) -> HeldKey {
        let key = try TPM.PrivateKey(in: tpm(name), options: .signsDigests)
        return HeldKey(tpm: name, file: key.dataRepresentation, publicKey: key.publicKey)
    }

    /// Opens a key. Blocks.
    static let open: HeldKey.Opener = { held throws(TenonError) in
        let key = try TPM.PrivateKey(dataRepresentation: held.file, in: tpm(held.tpm), options: .signsDigests)
        guard key.publicKey == held.publicKey else {
            throw TenonError(.storeCorrupt, message: "ca.json has parts of two keys. Restore it from a backup.")
        }
        try key.check()
        return key
    }

    private static func tpm(_ name: String) throws(TenonError) -> TPM {
        try TPM(name, options: TPM.Options(allowSimulator: true))
    }
}
