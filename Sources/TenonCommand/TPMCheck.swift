// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonTPM

/// Checks what the TPM reports about itself.
enum TPMCheck {
    private static let srk: UInt32 = 0x8100_0001

    static func findings(in info: TPM.Info, _ handles: [UInt32]) -> [CheckResult] {
        [
            .good("tpm", description(info)), hierarchies(info), auths(info), clearing(info), lockout(info.lockout),
            storageRoot(handles), certificates(info.ekCertificates),
        ]
    }

    /// Reports objects that other programs have loaded, for example one that was killed; a resource manager hides them.
    /// tpm2-tools take the same names of a TPM.
    static func loaded(_ handles: [UInt32], in name: String) -> [CheckResult] {
        guard !handles.isEmpty else { return [] }
        let names = handles.map { "0x" + String($0, radix: 16) }.joined(separator: " ")
        let objects = handles.filter { $0 >> 24 == 0x80 }
        let options = (objects.isEmpty ? "" : " -t") + (objects.count == handles.count ? "" : " -l")
        return [
            .note(
                "loaded", "other programs have loaded \(names); without room, a call waits and fails",
                mend: "If those programs have ended: tpm2_flushcontext -T \(name)\(options)")
        ]
    }

    /// The maker, the model, the firmware and the revision of the specification.
    static func description(_ info: TPM.Info) -> String {
        let parts = [48, 32, 16, 0].map { String(info.firmware >> UInt64($0) & 0xffff) }.joined(separator: ".")
        let model = info.model.split(separator: " ").joined(separator: " ")
        return "\(info.maker) \(model), firmware \(parts), specification \(info.revision / 100).\(info.revision % 100)"
    }

    private static func hierarchies(_ info: TPM.Info) -> CheckResult {
        let off = [(info.isStorageEnabled, "owner"), (info.isEndorsementEnabled, "endorsement")]
            .filter { !$0.0 }.map(\.1).joined(separator: " and ")
        guard off.isEmpty else {
            return .bad(
                "hierarchies", "\(off) switched off: its keys cannot be used, but none is lost",
                mend: "Restart the machine, or switch it on in the firmware.", .unavailable)
        }
        return .good("hierarchies", "owner and endorsement are on")
    }

    private static func auths(_ info: TPM.Info) -> CheckResult {
        let set = [(info.isOwnerAuthSet, "--owner-auth"), (info.isEndorsementAuthSet, "--endorsement-auth")]
            .filter(\.0).map(\.1)
        guard !set.isEmpty else { return .good("auth", "owner and endorsement need no auth value") }
        return .note(
            "auth", "a hierarchy has an auth value: you need it to make keys or to show the TPM's certificate",
            mend: "Give it in a file: \(set.map { $0 + " FILE" }.joined(separator: ", "))")
    }

    /// Decision: lockout-auth.
    private static func clearing(_ info: TPM.Info) -> CheckResult {
        if info.isClearDisabled { return .good("clear", "disabled: nobody can clear this TPM with the lockout auth") }
        if info.isLockoutAuthSet { return .good("clear", "needs the lockout auth, which is set") }
        return .note(
            "clear", "lockoutAuth is empty: anyone who can open the node can clear the TPM and lose all its keys",
            mend: "Set it and keep it: tpm2_changeauth -c lockout file:NEW")
    }

    private static func lockout(_ lockout: TPM.Lockout) -> CheckResult {
        let count = "\(lockout.failedTries) of \(lockout.maximumTries) failed tries"
        let pause = "one is forgiven every \(lockout.interval.components.seconds) s"
        guard lockout.isLocked else { return .good("lockout", "\(count); \(pause)") }
        return .bad(
            "lockout", "in lockout, \(count): keys under its protection cannot be used, but none is lost",
            mend: "Wait (\(pause)), or end the lockout: tpm2_dictionarylockout --clear-lockout", .auth)
    }

    private static func storageRoot(_ handles: [UInt32]) -> CheckResult {
        if handles.contains(srk) { return .good("srk", "persistent at 0x81000001") }
        return .good("srk", "none at 0x81000001: one is derived for each use, which takes longer")
    }

    private static func certificates(_ found: TPM.EKCertificates) -> CheckResult {
        let names: [(TPM.EKCertificates, String)] = [
            (.rsa2048Low, "RSA-2048"), (.p256Low, "P-256"), (.rsa2048High, "RSA-2048 (high)"),
            (.p256High, "P-256 (high)"), (.p384High, "P-384"),
        ]
        let there = names.filter { found.contains($0.0) }.map(\.1)
        guard !there.isEmpty else {
            return .note(
                "ek", "no certificate of its maker: a service that attests by certificates cannot accept this TPM",
                mend: "If its maker gave you one as a file: tenon register --disclose-ek --ek-certificate FILE")
        }
        return .good("ek", "certificates: \(there.joined(separator: ", ")); shown only with --disclose-ek")
    }
}
