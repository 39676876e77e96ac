// SPDX-License-Identifier: Apache-2.0
internal import TenonAuthority
internal import TenonAuthoritySynheart

extension HostedService {
    /// What this program hosts: a service is a line here. An app that names none belongs to the first.
    static let all: [HostedService] = [.synheart]
}
