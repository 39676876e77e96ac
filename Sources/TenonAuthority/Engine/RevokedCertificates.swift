// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// The certificates in the revocation lists (RFC 5280, 5) that an operator supplied. As with roots, the operator
/// vouches for the files; they are read at start and do not expire.
package struct RevokedCertificates: Sendable {
    /// The encoded issuer and serial.
    private struct Name: Hashable {
        let issuer: ArraySlice<UInt8>
        let serial: ArraySlice<UInt8>
    }

    private var names: Set<Name> = []

    package init() {}

    /// Reads the lists of a PEM file, or of a folder of them. It blocks.
    ///
    /// - Throws: ``TenonError/Code/configuration``, whose message names the file.
    package mutating func read(_ path: String) throws(TenonError) {
        for file in PEMFile.all(at: path, suffixes: [".pem", ".crl"]) {
            for list in try file.blocks("X509 CRL", member: "crls") {
                guard let found = RevokedCertificates.names(in: list) else {
                    throw TenonError(
                        .configuration,
                        message: "\(file.path) has an unsupported revocation list: it must be complete, and from "
                            + "a single issuer.")
                }
                names.formUnion(found)
            }
        }
    }

    /// Whether a certificate is on a list.
    package func contains(_ certificate: [UInt8]) -> Bool {
        guard !names.isEmpty else { return false }
        var outer = DERReader(certificate)
        guard var whole = outer.enter(0x30), var body = whole.enter(0x30) else { return false }
        _ = body.take(0xa0)
        guard let serial = body.take(0x02), body.take(0x30) != nil, let issuer = body.take(0x30) else { return false }
        return names.contains(Name(issuer: issuer, serial: serial))
    }

    /// Nil if this is not a list, or if a critical extension is not understood, such as one for delta lists or other
    /// issuers.
    private static func names(in list: [UInt8]) -> [Name]? {
        var outer = DERReader(list)
        guard var whole = outer.enter(0x30), outer.isAtEnd, var body = whole.enter(0x30) else { return nil }
        if body.tag == 0x02 { _ = body.take(0x02) }
        guard body.take(0x30) != nil, let issuer = body.take(0x30), takeTime(&body) else { return nil }
        _ = takeTime(&body)
        var names: [Name] = []
        if body.tag == 0x30 {
            guard var entries = body.enter(0x30) else { return nil }
            while !entries.isAtEnd {
                guard var entry = entries.enter(0x30), let serial = entry.take(0x02), takeTime(&entry),
                    entry.isAtEnd || isUnderstood(entry.enter(0x30)), entry.isAtEnd
                else { return nil }
                names.append(Name(issuer: issuer, serial: serial))
            }
        }
        guard var tagged = body.isAtEnd ? DERReader([]) : body.enter(0xa0), body.isAtEnd else { return nil }
        return tagged.isAtEnd || isUnderstood(tagged.enter(0x30)) ? names : nil
    }

    /// UTCTime or GeneralizedTime.
    private static func takeTime(_ reader: inout DERReader) -> Bool {
        reader.take(0x17) != nil || reader.take(0x18) != nil
    }

    /// Whether all critical extensions are understood: only the one that says which certificates a list covers is.
    private static func isUnderstood(_ extensions: DERReader?) -> Bool {
        guard var extensions else { return false }
        let distributionPoint: [UInt8] = [0x55, 0x1d, 0x1c]
        while !extensions.isAtEnd {
            guard var one = extensions.enter(0x30), let id = one.take(0x06) else { return false }
            if one.take(0x01) != nil && !id.elementsEqual(distributionPoint) { return false }
        }
        return true
    }
}

/// Reads DER value by value. Its form was checked before, or an operator supplied the file.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

    private init(slice: ArraySlice<UInt8>) { rest = slice }

    var isAtEnd: Bool { rest.isEmpty }

    /// The tag of the next value; nil at the end.
    var tag: UInt8? { rest.first }

    /// Takes the next value if it has this tag, and returns its content.
    mutating func take(_ tag: UInt8) -> ArraySlice<UInt8>? {
        var reader = self.rest
        guard reader.count >= 2, reader.popFirst() == tag, let first = reader.popFirst() else { return nil }
        var count = Int(first)
        if first >= 0x80 {
            guard first <= 0x84, reader.count >= Int(first & 0x7f) else { return nil }
            count = reader.prefix(Int(first & 0x7f)).reduce(0) { $0 << 8 | Int($1) }
            reader = reader.dropFirst(Int(first & 0x7f))
        }
        guard count <= reader.count else { return nil }
        rest = reader.dropFirst(count)
        return reader.prefix(count)
    }

    /// The same, as a reader of the content.
    mutating func enter(_ tag: UInt8) -> DERReader? { take(tag).map(DERReader.init(slice:)) }
}

/// A file of PEM blocks that the configuration names.
struct PEMFile {
    let path: String

    private static let maxBytes = 1 << 24

    /// The file itself, or the folder's files with these endings, ordered by name.
    static func all(at path: String, suffixes: [String]) -> [PEMFile] {
        guard let folder = opendir(path) else { return [PEMFile(path: path)] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if suffixes.contains(where: name.hasSuffix) { names.append("\(path)/\(name)") }
        }
        return names.sorted().map(PEMFile.init)
    }

    /// The blocks between `BEGIN` and `END` of this label, at least one.
    ///
    /// - Throws: ``TenonError/Code/configuration``.
    func blocks(_ label: String, member: String) throws(TenonError) -> [[UInt8]] {
        let mistake = TenonError(
            .configuration, message: "\(path) holds no \(label) in PEM. Correct the path in \"\(member)\".")
        guard let lines = lines() else { throw mistake }
        var blocks: [[UInt8]] = []
        // The text of the open block; nil between two blocks.
        var text: [Substring]?
        for line in lines {
            switch (line, text) {
            case ("-----BEGIN \(label)-----", nil): text = []
            case ("-----END \(label)-----", let whole?):
                guard let bytes = try? TextEncoding.base64.decode(whole.joined()), !bytes.isEmpty else { throw mistake }
                blocks.append(bytes)
                text = nil
            case (_, .some): text?.append(line)
            default: break
            }
        }
        guard text == nil, !blocks.isEmpty else { throw mistake }
        return blocks
    }

    private func lines() -> [Substring]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file, &part, part.count), count > 0 {
            bytes += part[..<count]
            guard bytes.count <= PEMFile.maxBytes else { return nil }
        }
        return String(decoding: bytes, as: UTF8.self).split { $0 == "\n" || $0 == "\r\n" }
    }
}
