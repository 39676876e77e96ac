// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine
internal import TenonTPM

/// `tenon native`: what a runtime is told that uses this device through the native callbacks.
enum NativeCommand {
    static func status(_ setting: Setting) throws(TenonError) -> Answer {
        let report = try report(setting)
        let keys = report["keys"]?.array ?? []
        let found = keys.count { $0["state"]?.string == "found" }
        let store = report["store"]
        let lines = Answer.rows([
            ("folder", text(report, "folder", of: report["state_dir"]?.string)),
            ("TPM", text(report, "tpm")),
            ("keys", "\(found) of \(keys.count) can sign"),
            ("values", store?["values"]?.integer.map { "\($0), \(word(store) ?? "unknown")" }),
            ("counter", store?["counter"]?.bool.map { $0 ? "yes" : "no" }),
            ("attestation certificates", report["attestation_certificates"]?.integer.map { "\($0)" }),
        ])
        return Answer(lines: lines, json: report, category: category(report))
    }

    static func list(_ setting: Setting) throws(TenonError) -> Answer {
        let report = try report(setting)
        let keys = report["keys"]?.array ?? []
        let lines = keys.map { key in
            let name = key["device_id"]?.string ?? "unreadable"
            let error = key["error"]?["message"]?.string.map { "  \($0)" } ?? ""
            return "\(name)  \(word(key) ?? "unknown")  \(key["file"]?.string ?? "")\(error)"
        }
        return Answer(
            lines: lines.isEmpty ? ["no key of a runtime in \(try setting.folderPath())"] : lines,
            json: ["keys": .array(keys)], category: category(report))
    }

    /// The whole report, in one line, for a person who looks for a fault.
    static func diagnosis(_ setting: Setting) throws(TenonError) -> Answer {
        let report = try report(setting)
        return Answer(lines: [String(decoding: try report.encoded(), as: UTF8.self)], json: report)
    }

    private static func report(_ setting: Setting) throws(TenonError) -> JSON {
        try RuntimeCallbacks.report(stateDirectory: setting.folderPath(), tpm: setting.tpmName())
    }

    private static func word(_ part: JSON?) -> String? { part?["state"]?.string }

    /// The word of a member of the report; `name` stands before it.
    private static func text(_ report: JSON, _ member: String, of name: String? = nil) -> String? {
        report[member]?.string.map { word in name.map { "\($0), \(word)" } ?? word }
    }

    /// Something that is there and cannot be used.
    private static func category(_ report: JSON) -> TenonError.Category? {
        let keys = report["keys"]?.array ?? []
        let words = [report["tpm"]?.string, report["folder"]?.string, word(report["store"])] + keys.map { word($0) }
        return words.contains("unavailable") ? .unavailable : nil
    }
}
