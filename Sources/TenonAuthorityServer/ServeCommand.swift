// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuthority
internal import TenonCommandLine

/// `tenon-authority serve`: until a signal ends it.
enum ServeCommand {
    static func run(_ arguments: Arguments) async throws(TenonError) {
        guard arguments.operands.isEmpty || arguments.has("--shared") else {
            throw arguments.mistake("serve takes operands only with --shared.")
        }
        let folder = try AuthorityFolder(try FolderChoice.path(arguments))
        let configuration = try configuration(arguments, folder)
        let shared = try SharedChoice.stores(arguments, configuration, folder: folder.path)
        Signals.watch(.ends)
        Hangup.watch()
        let authority = try await RunningAuthority(
            configuration, in: folder, shared: shared, acceptsLog: arguments.has("--accept-audit-log"),
            headSigned: { head, signature in
                // Printed for the journal, which somebody who cuts the log short may not be able to change.
                let signature = TextEncoding.base64.encode(signature)
                Output.error("tenon-authority: audit head \(head.instance) \(head.sequence):\(head.mac) \(signature)")
            }, told: { Output.error("tenon-authority: \($0)") }, refused: { Output.error("tenon-authority: \($0)") })
        for note in authority.authority.notices + configuration.notes { Output.error("tenon-authority: \(note)") }
        Output.line("tenon-authority \(tenonVersion): \(authority.url), state in \(folder.path)")
        do throws(TenonError) { try Output.check() } catch {
            await authority.stop()
            throw error
        }
        Hangup.answer()
        let thread = WorkThread()
        _ = try? await thread.run { () throws(TenonError) in Signals.wait() }
        Output.line("tenon-authority: answering open requests, then ending")
        let seconds = configuration.limits.stopSeconds
        guard await authority.stop(within: .seconds(seconds)) else {
            Output.error(
                "tenon-authority: some requests could not be answered in \(seconds) s, and the process ends anyway: "
                    + "what was not acknowledged may or may not be done. See `tenon-authority health` after the next "
                    + "start.")
            // Threads may still wait for answers that will never come.
            _exit(TenonError.Category.unavailable.rawValue)
        }
    }

    /// The operator's configuration, or else the default for loopback, which is written and shown (decision: demo).
    private static func configuration(
        _ arguments: Arguments, _ folder: AuthorityFolder
    ) throws(TenonError) -> Configuration {
        let port = try arguments.value("--port")
        let roots = arguments.all("--ek-roots")
        let tls = try tls(arguments)
        let path = try arguments.value("--config") ?? "\(folder.path)/\(Configuration.fileName)"
        if arguments.has("--config") || access(path, F_OK) == 0 {
            guard port == nil, roots.isEmpty else {
                throw arguments.mistake("--port and --ek-roots are for a new configuration. Edit \(path) instead.")
            }
            return try Configuration(file: path, services: HostedService.all, tls: tls)
        }
        guard let number = Int(port ?? "8420"), 1...65_535 ~= number else {
            throw arguments.mistake("--port must be 1 to 65535.")
        }
        let absolute = roots.map { FolderChoice.path($0, in: currentFolder) }
        let text = try Configuration.writeDefault(
            in: folder, service: HostedService.all[0], port: number, hasTLS: tls != nil, ekRoots: absolute)
        Output.text("There was no configuration. This one is now in \(path):\n\(text)")
        return try Configuration(parsing: Array(text.utf8), services: HostedService.all, tls: tls)
    }

    private static func tls(_ arguments: Arguments) throws(TenonError) -> Listener.TLS? {
        switch (try arguments.value("--tls-cert"), try arguments.value("--tls-key")) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            return Listener.TLS(
                certificate: FolderChoice.path(certificate, in: currentFolder),
                key: FolderChoice.path(key, in: currentFolder))
        default: throw arguments.mistake("--tls-cert and --tls-key must be given together.")
        }
    }

    private static var currentFolder: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }
}

/// Handles SIGHUP, which a terminal sends when it closes and a service manager sends to reload. It ends nothing, but
/// gets an answer.
enum Hangup {
    // A signal handler may post a semaphore.
    private nonisolated(unsafe) static let arrived: UnsafeMutablePointer<sem_t> = {
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
        return semaphore
    }()

    /// Starts to collect the signals.
    static func watch() {
        var action = sigaction()
        _ = arrived
        action.__sigaction_handler.sa_handler = { _ in sem_post(Hangup.arrived) }
        action.sa_flags = SA_RESTART
        sigaction(SIGHUP, &action, nil)
    }

    /// Answers the signals that have arrived, and each later one, until the process ends.
    static func answer() {
        let thread = WorkThread()
        Task {
            _ = try? await thread.run { () throws(TenonError) in
                while true {
                    while sem_wait(arrived) != 0 {}
                    Output.error(
                        "tenon-authority: SIGHUP: the configuration and certificates are read at start. Restart to "
                            + "use new ones.")
                }
            }
        }
    }
}
