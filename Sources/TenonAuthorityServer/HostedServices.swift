// SPDX-License-Identifier: Apache-2.0
internal import TenonAuthority
internal import TenonAuthorityAuths
internal import TenonAuthorityITWallet
internal import TenonAuthoritySynheart

extension HostedService {
    /// The services that this program hosts, one line each. An app that names none belongs to the first.
    static let all: [HostedService] = [.synheart, .itWallet, .auths]
}
