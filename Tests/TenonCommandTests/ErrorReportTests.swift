// SPDX-License-Identifier: Apache-2.0
import TenonHTTP
import TenonSynheart
import Testing

@testable import Tenon
@testable import TenonCommand
@testable import TenonCommandLine

/// Each error is reported with the action that mends its cause.
@Suite struct ErrorReportTests {
    /// A code, and words that only the mend for its cause contains.
    static let mends: [(TenonError.Code, String)] = [
        (.tpmMissing, "tenon doctor"), (.tpmPermission, "tenon doctor"), (.parentMissing, "tenon doctor"),
        (.tpmBusy, "--tpm device:/dev/tpmrm0"), (.tcti, "--tpm device:/dev/tpmrm0, tabrmd:, or swtpm:path=SOCKET"),
        (.authNeeded, "--owner-auth FILE, --endorsement-auth FILE"), (.ekMissing, "--disclose-ek"),
        (.keyInvalidated, "tenon register --disclose-ek"), (.keyGone, "tenon register --disclose-ek"),
        (.notRegistered, "tenon register --service URL --app ID"), (.registrationPending, "tenon register"),
        (.registrationRejected, "tenon register"), (.deviceRevoked, "tenon reset --yes"),
        (.attestationUnavailable, "--dialect tenon"), (.attestationFailed, "--ek-chain FILE"),
        (.method, "in capitals"), (.path, "as the service mounts it"), (.clockSkew, "timedatectl set-ntp"),
        (.tlsDate, "timedatectl set-ntp"), (.tlsUntrusted, "--ca-file FILE"), (.tlsTrustFile, "--ca-file FILE"),
        (.tlsHost, "--service"), (.httpConnect, "--service"), (.httpResolve, "--service"), (.httpLibrary, "libcurl4"),
        (.serviceRefused, "--service and --app"), (.serviceBusy, "again"), (.serviceAnswer, "https://host/auth"),
        (.keyRefused, "tenon reset --yes"), (.keyExpired, "tenon rotate"), (.challengeForm, "its challenges"),
        (.serviceURL, "--service https://host[:port][/path]"), (.httpURL, "https://host[:port]/path"),
        (.appID, "--app ID"), (.stateMissing, "tenon reset --yes"), (.stateUnresolved, "tenon register"),
        (.recordForm, "from a backup"), (.recordSum, "from a backup"), (.recordVersion, "or a later one"),
        (.stateOwner, "mode 700"), (.statePermission, "the user that owns the state"),
        (.stateKind, "--state-dir DIR"), (.statePath, "--state-dir DIR"), (.stateFull, "on the disk of the state"),
        (.stateBusy, "other programs"), (.dialectChanged, "--dialect"), (.foreignTPM, "machine"),
        (.rotationFailed, "tenon rotate"), (.rotationOpen, "which key it holds"),
        (.cancelled, "again: it"), (.outcomeUnknown, "again: it"),
        // A code without its own mend gets that of its category.
        (.options, "tenon --help"), (.signatureInvalid, "Do not use it"),
        (.stateReadOnly, "tenon doctor"), (.memory, "tenon --version"), (.operationInFlight, "tenon status"),
        (.httpTimeout, "again: it"), (.registrationInProgress, "again"),
    ]

    @Test(arguments: mends) func mendIsThatOfTheCause(_ code: TenonError.Code, _ words: String) {
        let report = ErrorReport(TenonError(code, message: "What happened."))
        #expect(report.cause == "What happened.")
        #expect(report.mend.contains(words), "\(code): \(report.mend)")
    }

    /// What a person types to begin again is what the service of the identity needs.
    @Test(arguments: Services.all.map(\.profile))
    func mendOfALostKey(_ kind: String) throws {
        let service = try #require(Services.named(kind))
        for code in [TenonError.Code.keyInvalidated, .keyGone, .keyRefused] {
            let mend = Mend.of(TenonError(code, message: ""), at: service)
            #expect(mend.hasSuffix("tenon register" + (kind == "auths" ? "" : " --disclose-ek")), "\(kind): \(mend)")
        }
    }

    /// A mend names what the identity's own service takes.
    @Test(arguments: [("synheart", "--dialect tenon"), ("it-wallet", "an attestation CA"), ("auths", "tenon doctor")])
    func mendIsThatOfTheService(_ kind: String, _ words: String) throws {
        let error = TenonError(.attestationUnavailable, message: "")
        let service = try #require(Services.named(kind))
        let mend = Mend.of(error, at: service)
        #expect(mend.contains(words) && mend.contains("--dialect") == (kind == "synheart"), "\(kind): \(mend)")
    }

    /// A response code of the TPM, as a status that carries it.
    @Test(
        arguments: [
            (0x07, 0x9a2, "--owner-auth FILE"), (0x05, 0x100, "tpm2_startup -c"), (0x05, 0x101, "Restart the machine"),
            (0x05, 0x14b, "tpm2_evictcontrol"), (0x04, 0x902, "how to flush"), (0x04, 0x906, "how to flush"),
            (0x07, 0x921, "--clear-lockout"), (0x04, 0x907, "again"),
        ] as [(Int32, Int32, String)])
    func mendOfATPMCode(_ category: Int32, _ tpm: Int32, _ words: String) {
        let code = TenonError.Code(rawValue: category << 24 | 0x80_0000 | tpm)
        let report = ErrorReport(TenonError(code, message: "The TPM refuses."))
        #expect(report.cause == "The TPM refuses. [TPM 0x\(String(tpm, radix: 16))]")
        #expect(report.mend.contains(words), "\(report.mend)")
    }

    /// The attestation CA has its own flags, so its errors have their own mends.
    @Test(
        arguments: [
            (.httpConnect, "Check --attestation-ca"), (.tlsHost, "Check --attestation-ca"),
            (.httpURL, "--attestation-ca https://"), (.tlsUntrusted, "--ca-file FILE"),
            (.attestationFailed, "--ek-chain FILE"), (.signatureInvalid, "--attestation-roots FILE"),
            (.jsonSyntax, "Check --attestation-ca [TENON_ATTESTATION_CA]: "), (.serviceBusy, "check --attestation-ca."),
        ] as [(TenonError.Code, String)])
    func mendOfAnAttestationCA(_ code: TenonError.Code, _ words: String) {
        var error = TenonError(code, message: "What happened.")
        error.isOfAttestationCA = true
        #expect(ErrorReport(error).mend.contains(words), "\(ErrorReport(error).mend)")
    }

    @Test func fieldsSayMoreThanTheCode() {
        #expect(ErrorReport(TenonError(.tpmBusy, message: "Busy.", mend: "Wait.")).mend == "Wait.")
        #expect(ErrorReport(TenonError(.tpmBusy, message: "")).cause == "TENON_ERROR_TPM_BUSY")
        let busy = TenonError(
            .serviceBusy, message: "Busy.", httpStatus: 503, serverCode: "LOAD", retryAfter: .seconds(9))
        #expect(ErrorReport(busy).cause == "Busy. [HTTP 503 LOAD]")
        #expect(ErrorReport(busy).mend.contains("in 9 s") && ErrorReport(busy).mend.hasSuffix("--timeout 69"))
        var failed = TenonError(.attestationUnavailable, message: "No attestation.")
        failed.cause = .tpmMissing
        #expect(ErrorReport(failed).mend == Mend.of(TenonError(.tpmMissing, message: "")))
        var open = TenonError(.serviceAnswer, message: "Not understood.")
        open.isOutcomeOpen = true
        #expect(ErrorReport(open).mend == Mend.of(TenonError(.outcomeUnknown, message: "")))
        let hostile = TenonError(.serviceRefused, message: "Refused.", httpStatus: 403, serverCode: "A\u{1b}[2J")
        #expect(ErrorReport(hostile).cause == "Refused. [HTTP 403]")
    }

    /// A mend names no verb or flag that the program does not have.
    @Test func mendsCanBeTyped() {
        let flags = Set(Program.tenon.verbs.flatMap(\.flags).map(\.name)).union(["--help", "--version"])
        let foreign: Set = ["--flags", "--clear-lockout"]
        // `tenon` is also the program's name in a sentence, and that of a dialect.
        let verbs = Set(Program.tenon.verbs.map { $0.words[0] }).union(["has", "or", "that"])
        for (code, _) in Self.mends {
            let words = Mend.of(TenonError(code, message: "")).split { " ,;:[]".contains($0) }.map(String.init)
            for word in words where word.hasPrefix("--") {
                #expect(flags.contains(word) || foreign.contains(word), "\(code): \(word)")
            }
            for (word, next) in zip(words, words.dropFirst()) where word == "tenon" && next.first?.isLetter == true {
                #expect(verbs.contains(next), "\(code): tenon \(next)")
            }
        }
    }
}
