// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The devices, their keys, the AK certificates and the denied EKs.
///
/// Each function is one transaction: it decides and stores in one step, even if other instances use the same store.
/// When it returns, its changes are stored. When it throws, nothing was stored, except that after
/// ``TenonError/Code/outcomeUnknown`` this is not known. Then make the same call again: it is safe, and its result is
/// true.
///
/// Over all apps, a public key belongs to one device for ever, as its present key or as a retired one.
package protocol DeviceStore: Sendable {
    // MARK: Requests of devices

    /// Registers a device. It checks in this order: whether the EK is denied; the challenge is spent; the key is known;
    /// the EK has too many devices (counted here, so that failures do not count); too many devices are pending; then
    /// the certificate. Only a success spends the challenge, including one with a known key. A spent challenge is
    /// remembered for a day.
    ///
    /// For a known key, the certificate is recorded beside the earlier ones; a device that a rotation has marked
    /// unattested is attested again if it has the same TPM; a pending device becomes active if no operator is asked any
    /// more. Nothing else changes.
    func register(_ registration: DeviceRegistration, at now: AuthorityInstant) async throws(TenonError)
        -> DeviceRegistration.Outcome

    /// Replaces the key that signed, if it is still the device's present key (compare and swap).
    func rotate(_ rotation: KeyRotation, at now: AuthorityInstant) async throws(TenonError) -> KeyRotation.Outcome

    /// A device of this app, which may be revoked.
    func device(app: String, id: String) async throws(TenonError) -> Device?

    /// The earlier keys of a device, the latest first, at most `limit`: one of them may have made a signature that the
    /// present key did not.
    func retiredKeys(ofDevice id: String, limit: Int) async throws(TenonError) -> [RetiredKey]

    /// Records a good signature by a retired key.
    func retiredKeyUsed(_ key: PublicKey, at now: AuthorityInstant) async throws(TenonError) -> RetiredKeyUse

    // MARK: AK certificates and EKs

    /// Records a certificate of the attestation CA before it is sent; false if its EK is denied.
    func record(_ certificate: AKCertificate) async throws(TenonError) -> Bool

    func certificate(serial: [UInt8]) async throws(TenonError) -> AKCertificate?

    /// Whether the deny list holds HMAC(K_ek, ek_id).
    func isDenied(ek: Digest) async throws(TenonError) -> Bool

    // MARK: Requests of operators

    /// Revokes, and says what was revoked. A repeated call says the same. The reason is for the audit log.
    func revoke(
        _ revocation: Revocation, reason: String, at now: AuthorityInstant
    ) async throws(TenonError) -> Revocation.Outcome

    /// Says what a revocation would do, without changing anything.
    func preview(_ revocation: Revocation, at now: AuthorityInstant) async throws(TenonError) -> Revocation.Outcome

    /// Decides about a pending device. A repeated call says the same. The reason is for the audit log.
    func decide(
        _ approval: Approval, device id: String, reason: String
    ) async throws(TenonError) -> Approval.Outcome

    /// A page of the devices that wait for a decision, like ``devices(app:from:limit:)``.
    func pendingDevices(app: String?, from place: Int64?, limit: Int) async throws(TenonError) -> DevicePage

    /// Removes an EK from the deny list; false if it is not on it. Revoked devices and certificates stay revoked.
    func allow(ek: Digest, reason: String) async throws(TenonError) -> Bool

    /// The place of a device in the order of registration, even if its row is damaged.
    func place(ofDevice id: String) async throws(TenonError) -> Int64?

    /// Devices of an app, or of all apps, from a place that a page named; at most `limit`, which is 1 to 1,000.
    func devices(app: String?, from place: Int64?, limit: Int) async throws(TenonError) -> DevicePage

    // MARK: Requests of services

    /// Runs a step of a service in its own tables, as one transaction. It is stored when this returns; if this throws,
    /// nothing is. The step may run again when another transaction came between.
    func step<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value

    /// Reads a service's own tables.
    func look<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value

    /// Runs a step as one transaction, too, whose outcome has a line in the audit log: both are stored together.
    func step<Value: Sendable>(
        auditing event: @escaping @Sendable (Value) -> AuditEvent?,
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value

    // MARK: The audit log and the timer

    /// From now on, a change is acknowledged once its line is in this log, which has each line once (decision:
    /// audit-log). Also writes the lines that an earlier process of this instance did not write, if possible. Blocks on
    /// the disk; call it at a start.
    ///
    /// - Returns: how the log differs from the one that was written, if an operator accepts that.
    /// - Throws: ``TenonError/Code/auditChain`` when it differs and no operator accepts that.
    @discardableResult
    func audit(in log: AuditLog) async throws(TenonError) -> TenonError?

    /// Writes the lines that could not be written in their turn, and removes expired rows, a few at a time.
    func tidy(at now: AuthorityInstant) async throws(TenonError)

    /// The number of changes whose lines are not known to be in the log.
    var waitingLines: Int { get }
}
