// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// The four messages of an attestation CA.
@Suite struct AttestMessageTests {
    static let request = AttestRequest(
        ekCertificates: [[1, 2, 3], [4]], ak: [5, 6], ek: [7],
        tpm: .init(manufacturer: 1_229_346_816, model: "SLB9672", firmwareVersion: "15.23"), akCertificate: [8],
        creation: .init(data: [9], attestation: [10, 11], signature: [12]))

    /// As the step client writes it: in the order of Go's struct, without empty members.
    static let written = """
        {"tpmInfo":{"version":2,"manufacturer":"1229346816","model":"SLB9672","firmwareVersion":"15.23"},"ek":"Bw==",\
        "ekCerts":["AQID","BA=="],"akCert":"CA==","params":{"public":"BQY=","createData":"CQ==",\
        "createAttestation":"Cgs=","createSignature":"DA=="}}
        """

    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func requestsAreThoseOfTheStepClient() throws {
        #expect(try AttestRequest(parsing: Array(Self.written.utf8)) == Self.request)
        #expect(
            try Self.text(Self.request.encoded()) == """
                {"akCert":"CA==","ek":"Bw==","ekCerts":["AQID","BA=="],"params":{"createAttestation":"Cgs=",\
                "createData":"CQ==","createSignature":"DA==","public":"BQY="},"tpmInfo":{"firmwareVersion":"15.23",\
                "manufacturer":"1229346816","model":"SLB9672","version":2}}
                """)
        let least = AttestRequest(ekCertificates: [[1]], ak: [2])
        #expect(
            try Self.text(least.encoded())
                == #"{"ekCerts":["AQ=="],"params":{"public":"Ag=="},"tpmInfo":{"version":2}}"#)
        #expect(try AttestRequest(parsing: least.encoded()) == least)
    }

    /// Members that other clients leave out or add.
    @Test(arguments: [
        #"{"params":{"public":"Ag=="}}"#, #"{"tpmInfo":{},"params":{"public":"Ag==","useTCSDActivationFormat":false}}"#,
        #"{"ekCerts":[],"params":{"public":"Ag==","certifyingKey":null},"x":[{"ek":1}],"EK":7}"#,
    ])
    func othersSayLessOrMore(_ text: String) throws {
        #expect(try AttestRequest(parsing: Array(text.utf8)) == AttestRequest(ekCertificates: [], ak: [2]))
    }

    /// Each member once of a wrong type, too small and too large; the message names it.
    static let malformed: [(String, String, TenonError.Code)] = {
        let large = String(repeating: "A", count: 1_368)
        let certificate = String(repeating: "A", count: 5_464)
        let wrong: [(String, String, String)] = [
            ("tpmInfo", #""tpmInfo":1"#, "tpmInfo"), ("tpmInfo", #""tpmInfo":null"#, "tpmInfo"),
            ("version", #""tpmInfo":{"version":"2.0"}"#, "tpmInfo.version"),
            ("version", #""tpmInfo":{"version":2.5}"#, "tpmInfo.version"),
            ("version", #""tpmInfo":{"version":1}"#, "tpmInfo.version"),
            ("manufacturer", #""tpmInfo":{"manufacturer":1229346816}"#, "tpmInfo.manufacturer"),
            ("manufacturer", #""tpmInfo":{"manufacturer":""}"#, "tpmInfo.manufacturer"),
            ("manufacturer", #""tpmInfo":{"manufacturer":"+1"}"#, "tpmInfo.manufacturer"),
            ("manufacturer", #""tpmInfo":{"manufacturer":"4294967296"}"#, "tpmInfo.manufacturer"),
            ("manufacturer", #""tpmInfo":{"manufacturer":"IFX"}"#, "tpmInfo.manufacturer"),
            ("model", #""tpmInfo":{"model":false}"#, "tpmInfo.model"),
            ("model", #""tpmInfo":{"model":"\#(large)"}"#, "tpmInfo.model"),
            ("firmware", #""tpmInfo":{"firmwareVersion":1}"#, "tpmInfo.firmwareVersion"),
            ("ek", #""ek":true"#, "ek"), ("ek", #""ek":"""#, "ek"), ("ek", #""ek":"\#(large)""#, "ek"),
            ("ekCerts", #""ekCerts":"AQ==""#, "ekCerts"), ("ekCerts", #""ekCerts":null"#, "ekCerts"),
            ("ekCerts", #""ekCerts":[1]"#, "ekCerts[0]"), ("ekCerts", #""ekCerts":["AQ==",""]"#, "ekCerts[1]"),
            ("ekCerts", #""ekCerts":["\#(certificate)"]"#, "ekCerts[0]"),
            ("ekCerts", #""ekCerts":["AQ==","AQ==","AQ==","AQ==","AQ=="]"#, "ekCerts"),
            ("akCert", #""akCert":[]"#, "akCert"), ("akCert", #""akCert":"\#(certificate)""#, "akCert"),
        ]
        let parameters = [
            (#""public":1"#, "public"), (#""public":"""#, "public"), (#""public":"\#(large)""#, "public"),
            (#""useTCSDActivationFormat":true,"public":"Ag==""#, "useTCSDActivationFormat"),
            (#""useTCSDActivationFormat":0,"public":"Ag==""#, "useTCSDActivationFormat"),
            (#""public":"Ag==","createData":1"#, "createData"),
            (#""public":"Ag==","createData":"AA==""#, "createAttestation"),
            (#""public":"Ag==","createData":"AA==","createAttestation":"\#(large)""#, "createAttestation"),
            (#""public":"Ag==","createData":"AA==","createAttestation":"AA==""#, "createSignature"),
            (#""public":"Ag==","createSignature":"AA==""#, "createData"),
            (#""createData":"AA==""#, "public"),
        ]
        return wrong.map { ("{\($0.1),\"params\":{\"public\":\"Ag==\"}}", $0.2, .messageMember) }
            + parameters.map { ("{\"params\":{\($0.0)}}", "params.\($0.1)", .messageMember) } + [
                ("{}", "params", .messageMember), (#"{"params":[]}"#, "params", .messageMember),
                ("[]", "message", .messageMember), ("\"\"", "message", .messageMember),
                (#"{"params":{"public":"A"}}"#, "params.public", .base64Length),
                (#"{"params":{"public":"Ag"}}"#, "params.public", .base64Padding),
                (#"{"params":{"public":"A_=="}}"#, "params.public", .base64Alphabet),
                (#"{"params":{"public":"A\n=="}}"#, "params.public", .base64Alphabet),
                (#"{"params":{"public":"Ah=="}}"#, "params.public", .base64StrayBits),
                (#"{"params":{"public":"Ag=="},"ekCerts":["A==="]}"#, "ekCerts[0]", .base64Padding),
            ]
    }()

    @Test(arguments: malformed)
    func malformedMembers(_ text: String, _ name: String, _ code: TenonError.Code) throws {
        let error = #expect(throws: TenonError.self) { try AttestRequest(parsing: Array(text.utf8)) }
        #expect(error?.code == code)
        #expect(error?.message.contains(" \(name)") == true, "\(error?.message ?? "")")
    }

    @Test func errorsHoldNothingThatWasRead() {
        let text = #"{"tpmInfo":{"manufacturer":"hidden"},"params":{"public":"hidden==","createData":"hidden"}}"#
        let error = #expect(throws: TenonError.self) { try AttestRequest(parsing: Array(text.utf8)) }
        #expect(error?.description.contains("hidden") == false)
    }

    @Test func twiceIsRefused() {
        for text in [
            #"{"params":{"public":"Ag=="},"params":{"public":"Ag=="}}"#,
            #"{"params":{"public":"Ag==","public":"Aw=="}}"#,
            #"{"params":{"public":"Ag=="},"ek":"AQ==","e\u006b":"AQ=="}"#,
        ] {
            #expect(codeThrown { try AttestRequest(parsing: Array(text.utf8)) } == .jsonDuplicateKey)
        }
    }

    static let bodies: [(text: String, most: Int, parse: @Sendable ([UInt8]) throws -> Void)] = [
        (#"{"params":{"public":"Ag=="}}"#, 32_768, { _ = try AttestRequest(parsing: $0) }),
        (#"{"credential":"AAEB","secret":"AAEB"}"#, 65_536, { _ = try AttestAnswer(parsing: $0) }),
        (#"{"secret":"AQ=="}"#, 1_024, { _ = try SecretRequest(parsing: $0) }),
        (#"{"chain":["AQ=="]}"#, 65_536, { _ = try SecretAnswer(parsing: $0) }),
    ]

    @Test func sizesOfBodies() throws {
        for (text, most, parse) in Self.bodies {
            let longest = Array(text.utf8) + [UInt8](repeating: 0x20, count: most - text.utf8.count)
            try parse(longest)
            #expect(codeThrown { try parse(longest + [0x20]) } == .jsonTooLarge, "\(text)")
        }
        let many = #"{"params":{"public":"Ag=="},"x":[\#(String(repeating: "0,", count: 300))0]}"#
        #expect(codeThrown { try AttestRequest(parsing: Array(many.utf8)) } == .jsonTooManyValues)
    }

    @Test func theLargestRequestFits() throws {
        let certificate = [UInt8](repeating: 1, count: 4_096)
        let structure = [UInt8](repeating: 2, count: 1_024)
        // The core takes 12 KiB of certificates in a chain.
        let largest = AttestRequest(
            ekCertificates: [certificate, certificate, certificate], ak: structure, ek: structure,
            tpm: .init(manufacturer: .max, model: String(repeating: "m", count: 128), firmwareVersion: "65535.65535"),
            akCertificate: certificate, creation: .init(data: structure, attestation: structure, signature: structure))
        #expect(try AttestRequest(parsing: largest.encoded()) == largest)
    }

    @Test func answers() throws {
        let answer = AttestAnswer(Credential(idObject: [0, 2, 1, 2], encryptedSecret: [0, 1, 9]))
        #expect(try Self.text(answer.encoded()) == #"{"credential":"AAIBAg==","secret":"AAEJ"}"#)
        #expect(try AttestAnswer(parsing: answer.encoded()) == answer)
        // Two bytes of size, and as many bytes, at most 512 in all.
        for (part, code) in [
            ("AAA=", .credentialForm), ("AA==", .credentialForm), ("AAIB", .credentialForm),
            ("AAABAg==", .credentialForm),
            ("", .messageMember), (String(repeating: "A", count: 688), .messageMember), ("AAE", .base64Padding),
        ] as [(String, TenonError.Code)] {
            for text in [#"{"credential":"\#(part)","secret":"AAEB"}"#, #"{"credential":"AAEB","secret":"\#(part)"}"#] {
                #expect(codeThrown { try AttestAnswer(parsing: Array(text.utf8)) } == code, "\(part)")
            }
        }
        let largest = [UInt8(510 >> 8), UInt8(510 & 0xff)] + [UInt8](repeating: 7, count: 510)
        let large = AttestAnswer(Credential(idObject: largest, encryptedSecret: largest))
        #expect(try AttestAnswer(parsing: large.encoded()) == large)
        for text in [#"{"credential":"AAEB"}"#, #"{"secret":"AAEB"}"#, #"{"credential":null,"secret":"AAEB"}"#] {
            #expect(codeThrown { try AttestAnswer(parsing: Array(text.utf8)) } == .messageMember)
        }
    }

    @Test func secrets() throws {
        let request = SecretRequest(Secret(copying: [1, 2, 3].span))
        #expect(try Self.text(request.encoded()) == #"{"secret":"AQID"}"#)
        #expect(try SecretRequest(parsing: request.encoded()) == request)
        #expect(try request.digest == Digest(hashing: [1, 2, 3]))
        #expect(!"\(request)".contains("1"))
        let most = SecretRequest(Secret(copying: [UInt8](repeating: 1, count: 64).span))
        #expect(try SecretRequest(parsing: most.encoded()) == most)
        let more = SecretRequest(Secret(copying: [UInt8](repeating: 1, count: 65).span))
        let body = try more.encoded()
        #expect(codeThrown { try SecretRequest(parsing: body) } == .messageMember)
        for text in ["{}", #"{"secret":""}"#, #"{"secret":null}"#, #"{"secret":["AQ=="]}"#] {
            #expect(codeThrown { try SecretRequest(parsing: Array(text.utf8)) } == .messageMember)
        }
    }

    @Test func chains() throws {
        let answer = SecretAnswer(chain: [[1], [2, 3]])
        #expect(try Self.text(answer.encoded()) == #"{"chain":["AQ==","AgM="]}"#)
        #expect(try SecretAnswer(parsing: answer.encoded()) == answer)
        for text in [
            "{}", #"{"chain":null}"#, #"{"chain":[]}"#, #"{"chain":"AQ=="}"#, #"{"chain":[""]}"#,
            #"{"chain":["AQ==","AQ==","AQ==","AQ==","AQ=="]}"#,
        ] {
            #expect(codeThrown { try SecretAnswer(parsing: Array(text.utf8)) } == .messageMember)
        }
    }
}
