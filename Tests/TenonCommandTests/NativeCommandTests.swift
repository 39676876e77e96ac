// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestFolders
import Testing

@testable import Tenon
@testable import TenonCommand
@testable import TenonTPM

/// What `tenon native` makes of the callbacks' report.
@Suite struct NativeCommandTests {
    private static func command(_ text: String) throws -> NativeCommand {
        NativeCommand(report: try JSON(parsing: Array(text.utf8), maxBytes: 4096, maxValues: 256))
    }

    private static let healthy = """
        {"version":1,"state_dir":"/var/lib/tenon","tpm":{"state":"found"},"folder":{"state":"found"},"keys":[\
        {"file":"k-00","device_id":"dev_1","state":"found"}],\
        "store":{"values":2,"counter":false,"state":"found"},"attestation_certificates":1}
        """

    @Test func healthyFolder() throws {
        let command = try Self.command(Self.healthy)
        #expect(
            command.status.lines == [
                "folder                    /var/lib/tenon, found", "TPM                       found",
                "keys                      1 of 1 can sign", "values                    2, found",
                "counter                   no", "attestation certificates  1",
            ])
        #expect(command.status.category == nil && command.list.category == nil)
        #expect(command.list.lines == ["dev_1  k-00  found"])
        let diagnosis = try command.diagnosis()
        #expect(diagnosis.json == command.report && diagnosis.lines.count == 1)
        #expect(try Self.command(diagnosis.lines[0]).report == command.report)
    }

    @Test func emptyFolder() throws {
        let command = try Self.command(
            #"{"version":1,"state_dir":"/d","tpm":{"state":"found"},"folder":{"state":"absent"}}"#)
        #expect(command.status.lines == ["folder  /d, absent", "TPM     found"])
        #expect(command.status.category == nil)
        #expect(command.list.lines == ["no key of a runtime in /d"])
    }

    /// A key and a value that are there and cannot be used, each with its reason.
    @Test func unusableParts() throws {
        let command = try Self.command(
            """
            {"version":1,"state_dir":"/d","tpm":{"state":"found"},"folder":{"state":"found"},"keys":[\
            {"file":"k-00","device_id":"dev_1","state":"unavailable","error":{"message":"Changed."}},\
            {"file":"k-01","state":"unavailable","error":{"message":"Damaged."}}],"store":{"values":1,"counter":true,\
            "state":"unavailable","error":{"message":"Stale."}},"attestation_certificates":0}
            """)
        #expect(command.status.lines.contains("keys                      0 of 2 can sign"))
        #expect(command.status.lines.contains("values                    1, unavailable: Stale."))
        #expect(command.status.category == .unavailable && command.list.category == .unavailable)
        #expect(
            command.list.lines == ["dev_1  k-00  unavailable: Changed.", "unreadable  k-01  unavailable: Damaged."])
    }

    @Test func anUnusableKeyAlone() throws {
        let command = try Self.command(
            """
            {"version":1,"state_dir":"/d","tpm":{"state":"found"},"folder":{"state":"found"},"keys":[\
            {"file":"k-00","device_id":"dev_1","state":"unavailable"}]}
            """)
        #expect(command.status.category == .unavailable && command.list.category == .unavailable)
    }

    /// The library itself, without a TPM and with a folder that others may write to. Its settings hold for the process,
    /// so that only this test asks it.
    @Test func unsafeFolderWithoutTPM() async throws {
        try await withFolder { path in
            try #require(chmod(path, 0o777) == 0)
            let report = try RuntimeCallbacks.report(stateDirectory: path, tpm: "device:\(path)/no-such-tpm")
            let command = NativeCommand(report: report)
            #expect(report["tpm"]?["state"]?.string == "unavailable")
            #expect(report["folder"]?["error"]?["code"]?.string == "NATIVE_FOLDER")
            #expect(command.status.lines.first?.contains("\(path), unavailable: ") == true)
            #expect(command.status.category == .unavailable)
            #expect(command.list.lines.count == 1 && command.list.lines[0].hasPrefix("\(path): unavailable: "))
            let error = #expect(throws: TenonError.self) {
                try RuntimeCallbacks.report(stateDirectory: path + "/other", tpm: "device:\(path)/no-such-tpm")
            }
            #expect(error?.code == .options)
        }
    }
}
