// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// An authority whose listeners take connections.
final class RunningAuthority: Sendable {
    let authority: AuthorityInstance
    private let doors: Doors

    /// Starts it. Blocks on the disk for a moment.
    ///
    /// - Parameters:
    ///   - acceptsLog: whether to go on with an audit log that is not the one that was written.
    ///   - headSigned: takes each head of the audit log elsewhere.
    ///   - told: takes a line for each fault of a store, and for the end of each.
    ///   - refused: takes a line of why a device was refused.
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
            doors = try Doors(authority.service, folder: folder.path)
        } catch {
            await authority.close()
            throw error
        }
    }

    /// Where devices find it.
    var url: String {
        switch authority.service.configuration.publicListener {
        case .tcp(let address, _, let tls):
            "\(tls == nil ? "http" : "https")://\(address.contains(":") ? "[\(address)]" : address):\(doors.publicPort)"
        case .unix(let path): path
        }
    }

    /// The same, but gives up after this time, whatever a store or a client does.
    ///
    /// - Returns: false when it gave up. What is under way goes on then, and ends with the process.
    func stop(within time: Duration) async -> Bool {
        let (results, end) = AsyncStream.makeStream(of: Bool.self)
        let timer = Task {
            try await Task.sleep(for: time)
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

    /// Answers what was asked, stores it, and ends.
    func stop() async {
        await doors.stop()
        await authority.close()
    }
}
