// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A digest of what the devices of an app may and must do, which instances compare: a device that one of them refuses is
/// not to be taken by the next.
///
/// Every member of the record counts, also one that is added later. Roots count by what they hold, as their paths may
/// differ from machine to machine.
enum PolicyDigest {
    static func of(
        _ app: AppRecord, roots: [EndorsementRoots], denials: EndorsementDenials
    ) throws(TenonError) -> Digest {
        var record = app
        record.ekRoots = []
        let text = "\(text(of: record)) \(text(of: roots)) \(text(of: denials.ids)) \(text(of: denials.models))"
        return try Digest(hashing: Array(text.utf8))
    }

    /// A set and a dictionary have no order of their own; anything else is written in its own.
    static func text(of value: Any) -> String {
        if let digest = value as? Digest { return digest.description }
        if let text = value as? String { return String(reflecting: text) }
        let mirror = Mirror(reflecting: value)
        let parts = mirror.children.map { child in (child.label.map { $0 + "=" } ?? "") + text(of: child.value) }
        switch mirror.displayStyle {
        case .set, .dictionary: return "{\(parts.sorted().joined(separator: ","))}"
        case .collection, .tuple, .struct, .class, .optional: return "(\(parts.joined(separator: ",")))"
        // A case without values has its name alone.
        case .enum where !parts.isEmpty: return "(\(parts.joined(separator: ",")))"
        default: return "\(value)"
        }
    }
}
