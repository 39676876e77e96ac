// SPDX-License-Identifier: Apache-2.0

/// What a device has to know of the certificate of its attestation key (RFC 5280, 4.1). Nothing is verified here.
struct KeptCertificate {
    let key: PublicKey
    let serial: [UInt8]
    /// Unix seconds.
    let notBefore: Int64
    let notAfter: Int64

    /// nil for what does not have the form of a certificate of a P-256 key.
    init?(_ certificate: [UInt8]) {
        var outer = Reader(certificate[...])
        guard var whole = outer.enter(0x30), var body = whole.enter(0x30), body.enter(0xa0) != nil,
            let serial = body.enter(0x02), body.enter(0x30) != nil, body.enter(0x30) != nil,
            var validity = body.enter(0x30), let notBefore = validity.time(), let notAfter = validity.time(),
            body.enter(0x30) != nil, let spki = body.element(0x30),
            let key = try? PublicKey(derRepresentation: spki.span)
        else { return nil }
        self.key = key
        self.serial = Array(serial.bytes)
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

        /// What is in the next element, if that has this tag.
        mutating func enter(_ tag: UInt8) -> Reader? {
            guard bytes.first == tag, let length = length() else { return nil }
            defer { bytes = bytes.dropFirst(length) }
            return Reader(bytes.prefix(length))
        }

        /// The next element, its tag and length too.
        mutating func element(_ tag: UInt8) -> [UInt8]? {
            let before = bytes
            return enter(tag) == nil ? nil : Array(before.dropLast(bytes.count))
        }

        private mutating func length() -> Int? {
            guard let first = bytes.dropFirst().first else { return nil }
            let digits = first < 0x80 ? 0 : Int(first & 0x7f)
            guard digits <= 2, bytes.count >= 2 + digits else { return nil }
            let long = bytes.dropFirst(2).prefix(digits).reduce(0) { $0 << 8 | Int($1) }
            let length = digits == 0 ? Int(first) : long
            bytes = bytes.dropFirst(2 + digits)
            return length <= bytes.count ? length : nil
        }

        /// UTCTime, or GeneralizedTime (4.1.2.5).
        mutating func time() -> Int64? {
            let isLong = bytes.first == 0x18
            guard let time = enter(isLong ? 0x18 : 0x17) else { return nil }
            guard time.bytes.count == (isLong ? 15 : 13), time.bytes.dropLast().allSatisfy({ 0x30...0x39 ~= $0 }),
                time.bytes.last == UInt8(ascii: "Z")
            else { return nil }
            var text = String(decoding: time.bytes, as: UTF8.self)
            if !isLong { text = (text < "50" ? "20" : "19") + text }
            let digits = Array(text)
            let parts = [0..<4, 4..<6, 6..<8, 8..<10, 10..<12, 12..<14].map { String(digits[$0]) }
            let date = "\(parts[0])-\(parts[1])-\(parts[2])T\(parts[3]):\(parts[4]):\(parts[5])Z"
            return CivilDate.iso8601(date)?.components.seconds
        }
    }
}
