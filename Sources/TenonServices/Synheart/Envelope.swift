// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A body that is a JSON object, and what it is wrapped in (docs/synheart.md).
struct Envelope {
    private let object: JSON

    /// nil for a body that does not say to be JSON, or is none, or no object.
    init?(_ answer: HTTPResponse) {
        let types = answer.values(of: "Content-Type")
        guard types.count == 1, Self.isJSON(types[0]), let object = try? JSON(parsing: answer.body),
            object.object != nil
        else { return nil }
        self.object = object
    }

    /// What is wrapped, or all of it; nil when it tells of a failure, or the wrapping is no such thing.
    var payload: JSON? {
        guard object["success"].isAbsent || object["success"] == true, !tellsFailure else { return nil }
        guard let data = object["data"], !data.isNull else { return object }
        return data.object == nil ? nil : data
    }

    /// The code of a failure: the first one that is known, else the first.
    var code: String? {
        let codes = places.flatMap { place in
            place.string.map { [$0] } ?? ["error_code", "code", "error"].compactMap { place[$0]?.string }
        }.filter { $0.isVisible(atMost: 64) }
        return codes.first { Synheart.verdicts[$0] != nil } ?? codes.first
    }

    /// What the service says the time is, in seconds since 1970.
    var serverTime: Double? { places.lazy.compactMap { $0["server_timestamp"]?.number }.first }

    /// When the answer was given, as it says itself.
    var answeredAt: Double? {
        places.lazy.compactMap { $0["server_timestamp"]?.unixSeconds ?? $0["timestamp"]?.unixSeconds }.first
    }

    /// Where a failure may be told, the nearest first.
    private var places: [JSON] {
        [object, object["error"], object["data"], object["data"]?["error"], object["detail"]].compactMap { $0 }
    }

    private var tellsFailure: Bool {
        let empty: [JSON?] = [nil, .null, false, ""]
        return !empty.contains(object["error"]) || !empty.contains(object["error_code"])
            || code.flatMap { Synheart.verdicts[$0] } != nil
    }

    private static func isJSON(_ type: String) -> Bool {
        type.prefix { $0 != ";" }.trimmed.lowercased() == "application/json"
    }
}

extension JSON? {
    /// Not there, or null.
    var isAbsent: Bool { self?.isNull ?? true }
}

extension StringProtocol {
    /// Without the spaces and tabs around a header's value.
    var trimmed: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }

    /// 1 to so many bytes, each 0x21-0x7E: it may stand in a header.
    func isVisible(atMost limit: Int) -> Bool {
        1...limit ~= utf8.count && utf8.allSatisfy { 0x21...0x7e ~= $0 }
    }
}
