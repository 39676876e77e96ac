// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine

/// `tenon attest`.
enum AttestCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let nonce = try Nonce.of(setting.arguments.operands[0], setting.arguments)
        let made = try await setting.identity().attest(nonce: nonce)
        let members = [
            (name: "proof", value: TextEncoding.base64url.encode(made.proof.dataRepresentation)),
            (name: "public_key", value: TextEncoding.base64.encode(made.publicKey.derRepresentation)),
            (name: "ak", value: TextEncoding.base64.encode(made.attestationKey.dataRepresentation)),
        ]
        var object = JSONObject()
        for (name, value) in members { object[name] = .string(value) }
        return Answer(lines: Answer.rows(members.map { ($0.name, $0.value) }), json: .object(object))
    }
}

/// The nonce of a verifier.
enum Nonce {
    static func of(_ text: String, _ arguments: Arguments) throws(TenonError) -> Digest {
        guard let bytes = try? TextEncoding.hex.decode(text), bytes.count == 32 else {
            throw arguments.mistake("A nonce must have 32 bytes, in hex.")
        }
        return try Digest(rawRepresentation: bytes)
    }
}

/// `tenon verify`.
enum VerifyCommand {
    static func answer(_ arguments: Arguments) throws(TenonError) -> Answer {
        guard let nonce = try arguments.value("--nonce") else { throw arguments.mistake("verify needs --nonce HEX.") }
        let digest = try Nonce.of(nonce, arguments)
        let file = try JSON(parsing: SmallFile.read(arguments.operands[0], atMost: 65_536))
        let policy = ProofPolicy(trust: try trust(arguments), now: Int64(time(nil)))
        let proof = Proof(dataRepresentation: try TextEncoding.base64url.decode(member("proof", of: file)))
        let spki = try TextEncoding.base64.decode(member("public_key", of: file))
        let key = try PublicKey(derRepresentation: spki)
        return answer(proof.report(on: key, nonce: digest, policy: policy))
    }

    private static func trust(_ arguments: Arguments) throws(TenonError) -> ProofPolicy.Trust {
        switch (try arguments.value("--ak"), try arguments.value("--roots")) {
        case (let ak?, nil): .ak(try PublicArea(dataRepresentation: try TextEncoding.base64.decode(ak)))
        case (nil, let roots?): .roots(try SmallFile.certificates(roots))
        default: throw arguments.mistake("Say whom to trust: give exactly one of --ak BASE64 and --roots FILE.")
        }
    }

    private static func member(_ name: String, of file: JSON) throws(TenonError) -> String {
        guard let text = file[name]?.string else {
            throw TenonError(
                .messageMember, message: "The file has no \(name).", mend: "Give the output of attest --json.")
        }
        return text
    }

    private static func answer(_ report: VerificationReport) -> Answer {
        let checks = report.checks.map { check -> JSON in
            [
                "rule": .string(check.rule.description), "outcome": .string("\(check.outcome)"),
                "text": .or(check.outcome == .notHeld ? check.text : nil),
            ]
        }
        var object = JSONObject()
        object["checks"] = .array(checks)
        object["accepted"] = .bool(report.verdict == .accepted)
        var category: TenonError.Category?
        if case .refused(let error) = report.verdict {
            category = error.code.category
            object["refused"] = .string(error.code.description)
        }
        return Answer(lines: [report.description], json: .object(object), category: category)
    }
}
