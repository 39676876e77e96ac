// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// The bytes of a text in hex; white space is left out.
func hex(_ text: String) throws -> [UInt8] {
    try TextEncoding.hex.decode(text.filter { !$0.isWhitespace })
}

func hexText(_ bytes: [UInt8]) -> String { TextEncoding.hex.encode(bytes.span) }

/// The code that the body throws; nil when it throws nothing.
func codeThrown<Value>(_ body: () throws -> Value) -> TenonError.Code? { Result { try body() }.code }

/// The same of an asynchronous body.
func refusal<Value>(_ body: () async throws -> Value) async -> TenonError.Code? {
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    return result.code
}

extension Result {
    /// The code of a failure; nil of a success. No other errors are thrown here.
    var code: TenonError.Code? {
        guard case .failure(let error) = self else { return nil }
        if let error = error as? TenonError { return error.code }
        Issue.record(error)
        return nil
    }
}

/// The bytes with one changed.
func changed(_ bytes: [UInt8], at index: Int, to byte: UInt8) -> [UInt8] {
    var bytes = bytes
    bytes[index] = byte
    return bytes
}

/// SplitMix64: the same numbers in each run.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

/// RFC 6979, A.2.5: the P-256 key and its signature over SHA-256 of "sample".
enum RFC6979 {
    static let scalar = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"
    static let x = "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
    static let y = "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    static let r = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
    static let s = "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"

    static func publicKey() throws -> PublicKey { try PublicKey(rawRepresentation: hex(x + y)) }
    static func signature() throws -> Signature { try Signature(rawRepresentation: hex(r + s)) }
    static func key() throws -> SoftwareKey {
        try SoftwareKey(scalar: hex(scalar), deterministic: true, signsDigests: true)
    }
}
