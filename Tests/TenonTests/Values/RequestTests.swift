// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct RequestTests {
    static let nonce = "9b2d1f6e-0c3a-4b5d-8e7f-001122334455"

    @Test func messageIsFourLines() throws {
        var message = try RequestMessage(method: "POST", path: "/v1/hsi", timestamp: "1700000000")
        try message.update(Array(#"{"a""#.utf8))
        try message.update([])
        try message.update(Array(":1}".utf8))
        #expect(try message.finish() == Digest(hashing: Array("POST\n/v1/hsi\n1700000000\n{\"a\":1}".utf8)))
        #expect(codeThrown { try message.finish() } == .stream)
        #expect(codeThrown { try message.update([1]) } == .stream)
    }

    @Test func messageIsAValue() throws {
        var message = try RequestMessage(method: "GET", path: "/", timestamp: "1700000000")
        var copy = message
        try copy.update([0x78])
        #expect(try message.finish() == Digest(hashing: Array("GET\n/\n1700000000\n".utf8)))
        #expect(try copy.finish() == Digest(hashing: Array("GET\n/\n1700000000\nx".utf8)))
    }

    @Test(
        arguments: [
            (.method, ["", "get", "GET\n", String(repeating: "A", count: 33)]),
            (
                .path,
                ["", "a", "/a?b", "/a#b", "/a b", "/a\nb", "/a\0b", "/é", "/" + String(repeating: "a", count: 8192)]
            ),
            (.timestamp, ["", "170000000", "0700000000", "1700000000000", "17000000.0"]),
        ] as [(TenonError.Code, [String])])
    func messageIsRefused(_ code: TenonError.Code, _ texts: [String]) {
        for text in texts {
            func part(_ part: TenonError.Code, _ good: String) -> String { part == code ? text : good }
            let thrown = codeThrown {
                try RequestMessage(
                    method: part(.method, "GET"), path: part(.path, "/"), timestamp: part(.timestamp, "1700000000"))
            }
            #expect(thrown == code, "\(text)")
        }
    }

    @Test func headers() throws {
        let signature = try RFC6979.signature()
        let headers = try RequestHeaders(
            signature: signature, appID: "demo", deviceID: "dev_01", timestamp: "1700000000", nonce: Self.nonce)
        #expect(headers.appID == "demo")
        #expect(headers.deviceID == "dev_01")
        #expect(headers.signature == TextEncoding.base64.encode(signature.derRepresentation))
        #expect(headers.timestamp == "1700000000")
        #expect(headers.nonce == Self.nonce)
        #expect(headers.signatureVersion == "1")
    }

    @Test func longestHeaders() throws {
        let app = String(repeating: "~", count: 200)
        let device = String(repeating: "!", count: 128)
        let headers = try RequestHeaders(
            signature: RFC6979.signature(), appID: app, deviceID: device, timestamp: "170000000000", nonce: Self.nonce)
        #expect(headers.appID == app)
        #expect(headers.deviceID == device)
        #expect(headers.timestamp == "170000000000")
        #expect(headers.signatureVersion == "1")
    }

    @Test(
        arguments: [
            (.appID, ["", "a b", String(repeating: "a", count: 201)]),
            (.deviceID, ["", "d\r\nX: y", String(repeating: "d", count: 129)]), (.timestamp, ["1"]),
            (.nonce, ["", "9b2d1f6e-0c3a-1b5d-8e7f-001122334455", "9b2d1f6e-0c3a-4b5d-ce7f-001122334455"]),
        ] as [(TenonError.Code, [String])])
    func headersAreRefused(_ code: TenonError.Code, _ texts: [String]) throws {
        let signature = try RFC6979.signature()
        for text in texts {
            func part(_ part: TenonError.Code, _ good: String) -> String { part == code ? text : good }
            let thrown = codeThrown {
                try RequestHeaders(
                    signature: signature, appID: part(.appID, "a"), deviceID: part(.deviceID, "d"),
                    timestamp: part(.timestamp, "1700000000"), nonce: part(.nonce, Self.nonce))
            }
            #expect(thrown == code, "\(text)")
        }
    }

    @Test func noncesAreFreshUUIDs() throws {
        var nonces: Set<String> = []
        for _ in 0..<100 {
            let nonce = try RequestHeaders.makeNonce()
            #expect(nonce.utf8.count == 36)
            #expect(nonce == nonce.lowercased())
            _ = try RequestHeaders(
                signature: RFC6979.signature(), appID: "a", deviceID: "d", timestamp: "1700000000", nonce: nonce)
            nonces.insert(nonce)
        }
        #expect(nonces.count == 100)
    }
}
