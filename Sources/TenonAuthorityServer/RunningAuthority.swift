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
    ///   - headSigned: takes each head of the audit log elsewhere.
    ///   - refused: takes a line of why a device was refused.
    init(
        _ configuration: Configuration, in folder: AuthorityFolder, shared: AuthorityInstance.Shared? = nil,
        headSigned: @escaping @Sendable (AuditHead, [UInt8]) -> Void = { _, _ in },
        refused: (@Sendable (String) -> Void)? = nil
    ) async throws(TenonError) {
        authority = try await AuthorityInstance(
            configuration, in: folder, shared: shared, openKey: AuthorityTPM.open, headSigned: headSigned,
            refused: refused)
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

    /// Answers what was asked, stores it, and ends.
    func stop() async {
        await doors.stop()
        await authority.close()
    }
}
