// SPDX-License-Identifier: Apache-2.0

/// Where the service keeps what it has to remember.
package struct AuthorityStores: Sendable {
    package var challenges: any ChallengeStore
    package var devices: any DeviceStore
    package var replays: any ReplayStore
    package var answers: any AnswerStore
    /// How they are; it does not wait.
    package var health: @Sendable () -> StoreHealth

    package init(
        challenges: any ChallengeStore, devices: any DeviceStore, replays: any ReplayStore, answers: any AnswerStore,
        health: @escaping @Sendable () -> StoreHealth = { StoreHealth() }
    ) {
        self.challenges = challenges
        self.devices = devices
        self.replays = replays
        self.answers = answers
        self.health = health
    }
}
