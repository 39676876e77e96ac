// SPDX-License-Identifier: Apache-2.0
public import Tenon

/// A service that registers KERI identifiers as Auths does: its URL, and the app.
public struct Auths: Sendable {
    /// The app's id; it names the identity on this device only.
    public let appID: String
    /// A name of the device for people; nil for none.
    public let deviceName: String?
    let service: ServiceURL

    /// Describes a service; nothing is sent.
    ///
    /// - Parameters:
    ///   - baseURL: where `/register` is, for example `https://api.example.org/auths/app_1`; `http` only when the host
    ///     is this machine.
    ///   - appID: 1 to 200 visible characters of ASCII.
    ///   - deviceName: at most 256 bytes. The service is told this name.
    /// - Throws: ``TenonError/Code/serviceURL``, ``TenonError/Code/appID``, ``TenonError/Code/tooLarge``.
    public init(baseURL: String, appID: String, deviceName: String? = nil) throws(TenonError) {
        guard 1...200 ~= appID.utf8.count, appID.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            throw TenonError(.appID, message: "An app id must have 1 to 200 ASCII characters without spaces.")
        }
        guard (deviceName?.utf8.count ?? 0) <= 256 else {
            throw TenonError(.tooLarge, message: "A device name may have at most 256 bytes.")
        }
        service = try ServiceURL(baseURL)
        self.appID = appID
        self.deviceName = deviceName
    }

    /// The base URL in a normal form: two URLs of the same service are equal.
    package var baseURL: String { service.text }

    /// The one version of the wire: the third generation of Auths' events, with detached signatures.
    package static let dialect = "keri"
}

// What the service is like (docs/services.md).
extension Auths {
    package var declaration: ServiceDeclaration {
        var declaration = ServiceDeclaration(
            profile: "auths", dialect: Self.dialect, baseURL: service.text, alias: "auths_\(appID)")
        declaration.keys = .committedNext
        declaration.challenge = nil
        declaration.resend = .identical
        declaration.isSequenced = true
        declaration.signatures = .strict
        declaration.rotation = .signedByNext
        declaration.settlements = [.resend]
        declaration.exactVerdicts = [
            AnswerKind(409, "SEQUENCE_TAKEN"): .numberRefused, AnswerKind(409, "SEQUENCE_GAP"): .numberRefused,
        ]
        // A KERI key has no age; each change makes the log longer for everybody who reads it.
        declaration.keyAge = .limited(.seconds(365 * 86_400))
        return declaration
    }
}

extension KeyEvent {
    /// The event and its attachment, one after the other, as they stand in a stream of CESR.
    var line: [UInt8] { bytes + Array(attachment.utf8) }

    /// - Throws: ``TenonError/Code/event`` for a line that is no event with an attachment.
    init(line: [UInt8]) throws(TenonError) {
        guard let end = line.lastIndex(of: UInt8(ascii: "}")) else { throw Self.malformed }
        self.init(bytes: Array(line[...end]), attachment: String(decoding: line[(end + 1)...], as: UTF8.self))
    }

    /// The event's own words for its place: they are not verified here.
    func entry() throws(TenonError) -> LogEntry {
        let event = try JSON(parsing: bytes, maxBytes: KeyEventLog.maxEventSize)
        guard let number = event["s"]?.string, 1...16 ~= number.utf8.count, let sequence = Int64(number, radix: 16),
            sequence >= 0, let said = event["d"]?.string, said.utf8.count == 44
        else { throw Self.malformed }
        return LogEntry(sequence: sequence, digest: said, line: line)
    }

    private static let malformed = TenonError(.event, message: "This is not a KERI event with its attachment.")
}
