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
        #expect(codeThrown { () throws(TenonError) in try message.finish() } == .stream)
        #expect(codeThrown { () throws(TenonError) in try message.update([1]) } == .stream)
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
            ("", "/", "1700000000", .method), ("get", "/", "1700000000", .method),
            ("GET\n", "/", "1700000000", .method),
            (String(repeating: "A", count: 33), "/", "1700000000", .method), ("GET", "", "1700000000", .path),
            ("GET", "a", "1700000000", .path), ("GET", "/a?b", "1700000000", .path),
            ("GET", "/a#b", "1700000000", .path),
            ("GET", "/a b", "1700000000", .path), ("GET", "/a\nb", "1700000000", .path),
            ("GET", "/a\0b", "1700000000", .path), ("GET", "/é", "1700000000", .path),
            ("GET", "/" + String(repeating: "a", count: 8192), "1700000000", .path), ("GET", "/", "", .timestamp),
            ("GET", "/", "170000000", .timestamp), ("GET", "/", "0700000000", .timestamp),
            ("GET", "/", "1700000000000", .timestamp), ("GET", "/", "17000000.0", .timestamp),
        ] as [(String, String, String, TenonError.Code)])
    func messageIsRefused(_ method: String, _ path: String, _ timestamp: String, _ code: TenonError.Code) {
        let thrown = codeThrown { () throws(TenonError) in
            try RequestMessage(method: method, path: path, timestamp: timestamp)
        }
        #expect(thrown == code)
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
            ("", "d", "1700000000", nonce, .appID), ("a b", "d", "1700000000", nonce, .appID),
            (String(repeating: "a", count: 201), "d", "1700000000", nonce, .appID),
            ("a", "", "1700000000", nonce, .deviceID), ("a", "d\r\nX: y", "1700000000", nonce, .deviceID),
            ("a", String(repeating: "d", count: 129), "1700000000", nonce, .deviceID),
            ("a", "d", "1", nonce, .timestamp),
            ("a", "d", "1700000000", "", .nonce),
            ("a", "d", "1700000000", "9b2d1f6e-0c3a-1b5d-8e7f-001122334455", .nonce),
            ("a", "d", "1700000000", "9b2d1f6e-0c3a-4b5d-ce7f-001122334455", .nonce),
        ] as [(String, String, String, String, TenonError.Code)])
    func headersAreRefused(
        _ appID: String, _ deviceID: String, _ timestamp: String, _ nonce: String, _ code: TenonError.Code
    ) throws {
        let signature = try RFC6979.signature()
        let thrown = codeThrown { () throws(TenonError) in
            try RequestHeaders(
                signature: signature, appID: appID, deviceID: deviceID, timestamp: timestamp, nonce: nonce)
        }
        #expect(thrown == code)
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
