// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON object, in the order of their keys' UTF-8 bytes, each key once.
///
/// Not a Dictionary: its keys are compared as bytes, and what is written has one order.
package struct JSONObject: Equatable, Sendable {
    package struct Member: Sendable {
        package let key: String
        package var value: JSON
    }

    package private(set) var members: [Member] = []

    package init() {}

    /// Takes the members as they were read; gives back the place of one whose key came before.
    ///
    /// Sorting first keeps the search for duplicates at n log n.
    static func make(_ unsorted: [Member]) -> Result<JSONObject, DuplicateKey> {
        var order = Array(unsorted.indices)
        // By key, equal ones in the order in which they came.
        order.sort { left, right in
            switch compare(unsorted[left].key, unsorted[right].key) {
            case 0: left < right
            case let sign: sign < 0
            }
        }
        for (first, second) in zip(order, order.dropFirst())
        where compare(unsorted[first].key, unsorted[second].key) == 0 {
            return .failure(DuplicateKey(index: second))
        }
        var object = JSONObject()
        object.members = order.map { unsorted[$0] }
        return .success(object)
    }

    struct DuplicateKey: Error {
        let index: Int
    }

    /// The value of a key. Setting nil removes the member.
    package subscript(key: String) -> JSON? {
        get {
            let (index, found) = place(of: key)
            return found ? members[index].value : nil
        }
        set {
            let (index, found) = place(of: key)
            switch (newValue, found) {
            case (let value?, true): members[index].value = value
            case (let value?, false): members.insert(Member(key: key, value: value), at: index)
            case (nil, true): members.remove(at: index)
            case (nil, false): break
            }
        }
    }

    private func place(of key: String) -> (index: Int, found: Bool) {
        var low = 0
        var high = members.count
        while low < high {
            let middle = low + (high - low) / 2
            switch JSONObject.compare(members[middle].key, key) {
            case 0: return (middle, true)
            case let sign where sign < 0: low = middle + 1
            default: high = middle
            }
        }
        return (low, false)
    }

    /// Below, at or above 0, by UTF-8 bytes.
    private static func compare(_ left: String, _ right: String) -> Int {
        let (left, right) = (left.utf8.span, right.utf8.span)
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return Int(left[index]) - Int(right[index])
        }
        return left.count - right.count
    }

    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.elementsEqual(right.members) { compare($0.key, $1.key) == 0 && $0.value == $1.value }
    }
}
