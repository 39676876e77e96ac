// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonTPM

/// Checks the state's folder and the identities in it.
enum StateCheck {
    static func findings(_ setting: Setting, _ tpm: TPM?) throws(TenonError) -> [CheckResult] {
        let path = try setting.folderPath()
        do throws(TenonError) {
            guard let folder = try setting.folder() else { return [.good("state", "\(path), not made yet")] }
            let identities = try folder.identities()
            return [state(path, identities.count)] + identities.map { finding(of: $0, tpm) }
        } catch {
            return [.bad("state", error)]
        }
    }

    /// Locks and fsync are not reliable on NFS (decision: network-disk).
    private static func state(_ path: String, _ count: Int) -> CheckResult {
        let text = "\(path), \(count) \(count == 1 ? "identity" : "identities")"
        guard isOnNFS(path) else { return .good("state", text) }
        return .note("state", "\(text), on NFS", mend: "Keep it on a local disk: --state-dir DIR")
    }

    /// Looks the mount up in the kernel's list (proc(5), mountinfo): the third word is the device, and the type follows
    /// a dash.
    private static func isOnNFS(_ path: String) -> Bool {
        var file = stat()
        guard stat(path, &file) == 0, let mounts = try? SmallFile.read("/proc/self/mountinfo") else { return false }
        // NFS has no device, so its major number is 0.
        let device = "0:\(file.st_dev & 0xff | file.st_dev >> 12 & 0xffff_ff00)"
        return String(decoding: mounts, as: UTF8.self).split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            return words.count > 2 && words[2] == device && line.contains(" - nfs")
        }
    }

    private static func finding(of known: KnownIdentity, _ tpm: TPM?) -> CheckResult {
        switch known.record {
        case .unreadable(let error): .bad("identity", error)
        case .absent: .good("identity", "nothing of \(known.id)")
        case .found(let record): finding(of: record, tpm)
        }
    }

    private static func finding(of record: IdentityRecord, _ tpm: TPM?) -> CheckResult {
        let (status, app) = (record.status, "\(record.name.appID) at \(record.name.baseURL)")
        guard status.isRegistered else {
            let text = "\(app): \(Format.status(status))"
            let code: TenonError.Code =
                switch (status.state, status.reason) {
                case (.keyInvalid, _): .keyInvalidated
                case (_, .revoked): .deviceRevoked
                case (_, .approvalPending): .registrationPending
                default: .notRegistered
                }
            if code == .notRegistered { return .good("identity", text) }
            return .bad("identity", TenonError(code, message: text))
        }
        guard let tpm, let key = record.key(.current) else {
            return .good("identity", "\(app): \(Format.status(status))")
        }
        do throws(TenonError) {
            try TPM.PrivateKey(dataRepresentation: key.facts.pem, in: tpm).check()
            return .good("identity", "\(app): \(Format.status(status)), and the TPM accepts its key")
        } catch {
            return .bad("identity", TenonError(error.code, message: "\(app): \(error.message)"))
        }
    }
}
