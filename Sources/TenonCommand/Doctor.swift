// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine
internal import TenonTPM

/// `tenon doctor`: checks everything that an identity depends on, and changes nothing.
enum Doctor {
    static func answer(_ setting: Setting) throws(TenonError) -> Answer {
        let name = try setting.tpmName()
        var findings = [NodeCheck.finding(of: name)]
        var tpm: TPM?
        if findings[0].state != .bad {
            (tpm, findings) = try opened(setting, findings)
        }
        findings.append(ClockCheck.finding())
        findings += try StateCheck.findings(setting, tpm)
        let shown = setting.arguments.has("--disclose-ek") ? tpm.flatMap(Disclosed.init) : nil
        return answer(findings, shown)
    }

    private static func opened(
        _ setting: Setting, _ findings: [CheckResult]
    ) throws(TenonError) -> (tpm: TPM?, findings: [CheckResult]) {
        do throws(TenonError) {
            let tpm = try setting.tpm()
            let found = TPMCheck.findings(in: try tpm.info(), try tpm.persistentHandles())
            return (tpm, findings + found + TPMCheck.loaded(try tpm.loadedHandles(), in: try setting.tpmName()))
        } catch  where error.code.category == .argument {
            throw error
        } catch {
            return (nil, findings + [.bad("tpm", error)])
        }
    }

    private static func answer(_ findings: [CheckResult], _ shown: Disclosed?) -> Answer {
        let bad = findings.first { $0.state == .bad }
        var object = JSONObject()
        object["checks"] = .array(findings.map(\.json))
        object["healthy"] = .bool(bad == nil)
        object["ek"] = shown?.json
        return Answer(
            lines: findings.map(\.lines) + (shown?.lines ?? []), json: .object(object), category: bad?.category)
    }
}

/// The endorsement key's id and certificate, which identify the TPM for ever. They are shown only with a flag, for an
/// inventory.
struct Disclosed {
    private let id: String
    private let certificate: [UInt8]

    /// nil when the TPM has no certificate.
    init?(_ tpm: TPM) {
        for kind in [EndorsementKey.Kind.p256, .p384, .rsa2048] {
            guard let certificate = try? tpm.endorsementCertificate(kind),
                let key = try? EndorsementKey(unverified: certificate)
            else { continue }
            (id, self.certificate) = (key.id.description, certificate)
            return
        }
        return nil
    }

    var lines: [String] {
        ["", "ek_id: \(id)", String(decoding: CertificateFile.encode([certificate]).dropLast(), as: UTF8.self)]
    }

    var json: JSON { ["ek_id": .string(id), "certificate": .string(TextEncoding.base64.encode(certificate))] }
}

/// The result of one of the doctor's checks.
struct CheckResult {
    enum State: String {
        case good = "ok"
        /// Worth knowing; nothing fails because of it.
        case note
        case bad
    }

    let check: String
    let state: State
    let text: String
    let mend: String?
    let category: TenonError.Category?

    static func good(_ check: String, _ text: String) -> CheckResult {
        CheckResult(check: check, state: .good, text: text, mend: nil, category: nil)
    }

    static func note(_ check: String, _ text: String, mend: String) -> CheckResult {
        CheckResult(check: check, state: .note, text: text, mend: mend, category: nil)
    }

    static func bad(_ check: String, _ text: String, mend: String, _ category: TenonError.Category) -> CheckResult {
        CheckResult(check: check, state: .bad, text: text, mend: mend, category: category)
    }

    static func bad(_ check: String, _ error: TenonError) -> CheckResult {
        let failure = ErrorReport(error)
        return bad(check, failure.cause, mend: failure.mend, failure.error.code.category)
    }

    private static let columns = (state: 6, check: 13)

    var lines: String {
        let colour: Terminal.Colour = state == .good ? .green : state == .note ? .yellow : .red
        let gap = String(repeating: " ", count: Self.columns.state - state.rawValue.count)
        let indent = String(repeating: " ", count: Self.columns.state + Self.columns.check)
        let name = check + String(repeating: " ", count: max(1, Self.columns.check - check.count))
        return Terminal.text(state.rawValue, colour) + gap + name + text + (mend.map { "\n\(indent)\($0)" } ?? "")
    }

    var json: JSON {
        [
            "check": .string(check), "state": .string(state.rawValue), "text": .string(text), "mend": .or(mend),
            "category": .or(category?.name),
        ]
    }
}

/// Checks the clock: signatures carry the time, and services accept them for 300 s.
enum ClockCheck {
    /// The start of 2026; no earlier time can be right.
    private static let earliest = 1_767_225_600

    static func finding() -> CheckResult {
        let now = time(nil)
        guard now >= earliest else {
            return .bad(
                "clock", "\(Format.date(Int64(now))) is long past: no service accepts a signature with this time",
                mend: "Set it: sudo timedatectl set-ntp true", .rejected)
        }
        guard isKept else {
            return .note(
                "clock",
                "\(Format.date(Int64(now))); the kernel reports no time service, and 300 s off is too much",
                mend: "Keep it right: sudo timedatectl set-ntp true")
        }
        return .good("clock", Format.date(Int64(now)))
    }

    /// Whether something synchronises the clock, by adjtimex(2). Swift has no `struct timex`; one of zeros only asks.
    private static var isKept: Bool {
        typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Int32
        let unsynchronised: Int32 = 5
        guard let address = dlsym(nil, "adjtimex") else { return true }
        let ask = unsafeBitCast(address, to: Function.self)
        var state = [Int64](repeating: 0, count: 64)
        return state.withUnsafeMutableBytes { ask($0.baseAddress) } != unsynchronised
    }
}
