// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine
internal import TenonTPM

/// `tenon native`: what a runtime is told that uses this device through the native callbacks.
struct NativeCommand {
    /// The callbacks' own report.
    let report: JSON

    init(report: JSON) { self.report = report }

    init(_ setting: Setting) throws(TenonError) {
        self.init(report: try RuntimeCallbacks.report(stateDirectory: setting.folderPath(), tpm: setting.tpmName()))
    }

    var status: Answer {
        let found = keys.count { $0["state"]?.string == "found" }
        let store = report["store"]
        let lines = Answer.rows([
            ("folder", Self.text(report["folder"]).map { "\(path), \($0)" }),
            ("TPM", Self.text(report["tpm"])),
            ("keys", report["keys"] == nil ? nil : "\(found) of \(keys.count) can sign"),
            ("values", store?["values"]?.integer.map { "\($0), \(Self.text(store) ?? "unknown")" }),
            ("counter", store?["counter"]?.bool.map { $0 ? "yes" : "no" }),
            ("attestation certificates", report["attestation_certificates"]?.integer.map { "\($0)" }),
        ])
        return Answer(lines: lines, json: report, category: category)
    }

    var list: Answer {
        let lines = keys.map { key in
            let name = key["device_id"]?.string ?? "unreadable"
            return "\(name)  \(key["file"]?.string ?? "")  \(Self.text(key) ?? "unknown")"
        }
        return Answer(lines: lines.isEmpty ? [noKeys] : lines, json: ["keys": .array(keys)], category: category)
    }

    /// The whole report, in one line, for a person who looks for a fault.
    func diagnosis() throws(TenonError) -> Answer {
        Answer(lines: [String(decoding: try report.encoded(), as: UTF8.self)], json: report)
    }

    private var keys: [JSON] { report["keys"]?.array ?? [] }

    private var path: String { report["state_dir"]?.string ?? "" }

    /// Nobody knows whether there are keys in a folder that cannot be read.
    private var noKeys: String {
        let folder = report["folder"]
        return Self.isUnavailable(folder)
            ? "\(path): \(Self.text(folder) ?? "unknown")" : "no key of a runtime in \(path)"
    }

    private static func isUnavailable(_ part: JSON?) -> Bool { part?["state"]?.string == "unavailable" }

    /// The state of a part of the report, and why it is unavailable.
    private static func text(_ part: JSON?) -> String? {
        part?["state"]?.string.map { word in
            part?["error"]?["message"]?.string.map { "\(word): \($0)" } ?? word
        }
    }

    /// Something that is there and cannot be used.
    private var category: TenonError.Category? {
        let parts = [report["tpm"], report["folder"], report["store"]] + keys
        return parts.contains(where: Self.isUnavailable) ? .unavailable : nil
    }
}
