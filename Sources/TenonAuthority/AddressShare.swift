// SPDX-License-Identifier: Apache-2.0

/// Places of which each address has a share, so that a few addresses that take what they get keep nobody else out: half
/// of the places are for whoever comes, and the others for those who have less than their share.
package struct AddressShare: Equatable, Sendable {
    /// Places in all.
    package let places: Int
    /// What an address may have where places are scarce.
    package let share: Int

    /// - Parameters:
    ///   - share: what an operator says; nil is one of so many parts.
    package init(of places: Int, each share: Int?, parts: Int) {
        self.places = places
        self.share = share ?? max(1, places / parts)
    }

    package func isScarce(used: Int) -> Bool { used * 2 >= places }

    /// Whether an address that has some places may have another; one without a name has no share.
    package func admits(held: Int, used: Int) -> Bool { held < share || !isScarce(used: used) }

    /// Of challenges: what is outstanding of an address whose devices register at once.
    package static func challenges(_ places: Int, each share: Int? = nil) -> AddressShare {
        AddressShare(of: places, each: share, parts: 256)
    }

    package static func connections(_ places: Int, each share: Int? = nil) -> AddressShare {
        AddressShare(of: places, each: share, parts: 128)
    }
}
