// SPDX-License-Identifier: Apache-2.0

/// What the flows of an identity stand on.
struct FlowContext: Sendable {
    let store: RecordStore
    let profile: any ServiceProfile
    /// The profile's, asked for once: each signature looks at it.
    let declaration: ServiceDeclaration
    let vault: any KeyVault
    let transport: any Transport
    let clock: FlowClock
    let limits: FlowLimits
    /// Waits for the disk.
    let disk: WorkThread
    let status: StatusBoard
    /// Off by default.
    let log: LogSink?
    let attestationService: DeviceIdentity.AttestationService?

    var name: IdentityName { store.name }
    let origin: String

    /// Does work where waiting is allowed. A task that was cancelled still writes down what it knows.
    func onDisk<Value: Sendable>(
        _ work: @escaping @Sendable (RecordStore) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        let (store, disk) = (store, disk)
        let task = Task { () async -> Result<Value, TenonError> in
            do throws(TenonError) {
                return .success(try await disk.run { () throws(TenonError) in try work(store) })
            } catch {
                return .failure(error)
            }
        }
        return try await task.value.get()
    }
}

/// How long is waited for what.
package struct FlowLimits: Sendable {
    /// For one call, the pauses between its tries included.
    package var call = Duration.seconds(60)
    /// For one exchange.
    package var exchange = Duration.seconds(30)
    /// For those who have the lock.
    package var lock = Duration.seconds(60)
    package var retry = RetryRule()
    /// Between the first time that a service refused all keys, and the second that is believed
    /// (decision: two-refusals).
    package var secondRefusal = Duration.seconds(3600)
    package var oldestRefusal = Duration.seconds(7 * 86_400)
    /// A younger key is not changed because an application says that it is too old: nobody sets how often that is done.
    package var youngestExpired = Duration.seconds(3600)
    /// The age at which a key is rotated (docs/synheart.md), and how much earlier a device may be that its number
    /// chose.
    package var keyAge = Duration.seconds(90 * 86_400)
    package var keyAgeSpread = Duration.seconds(9 * 86_400)

    package init() {}
}
