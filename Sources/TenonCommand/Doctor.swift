// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine
internal import TenonTPM

/// `tenon doctor`: looks at everything that an identity stands on, and changes nothing.
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
        _ setting: Setting, _ findings: [Finding]
    ) throws(TenonError) -> (tpm: TPM?, findings: [Finding]) {
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

    private static func answer(_ findings: [Finding], _ shown: Disclosed?) -> Answer {
        let bad = findings.first { $0.state == .bad }
        var object = JSONObject()
        object["checks"] = .array(findings.map(\.json))
        object["healthy"] = .bool(bad == nil)
        object["ek"] = shown?.json
        return Answer(
            lines: findings.map(\.lines) + (shown?.lines ?? []), json: .object(object), category: bad?.category)
    }
}

/// What names the TPM for ever: shown to whoever asks for it by its flag, to enter it in an inventory.
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
