// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The devices, their keys, the AK certificates and the denied EKs.
///
/// Each function is one transaction: it decides and stores in one step, even if other instances use the same store.
/// What it says has happened is stored when it returns. When it throws, nothing was stored, except that after
/// ``TenonError/Code/outcomeUnknown`` this is not known. Then make the same call again: it is safe, and its result is
/// true.
///
/// Over all apps a public key belongs to one device, as its present key or as a retired one, for ever.
package protocol DeviceStore: Sendable {
    // MARK: What devices ask

    /// Registers a device. In this order: the EK is denied; the challenge is spent; the key is known; the EK has too
    /// many devices (counted here, so that failures count for nothing); too many devices are pending; the certificate.
    /// The challenge is spent by success only, also by that of a known key; it is remembered for a day.
    ///
    /// For a known key the certificate is recorded beside those before it, a device that a rotation has marked
    /// unattested is attested again by the same TPM, one that is pending is active where no operator is asked any more,
    /// and nothing else changes.
    func register(_ registration: DeviceRegistration, at now: AuthorityInstant) async throws(TenonError)
        -> DeviceRegistration.Outcome

    /// Puts a new key in the place of the one that signed, if that is still the device's: compare and swap.
    func rotate(_ rotation: KeyRotation, at now: AuthorityInstant) async throws(TenonError) -> KeyRotation.Outcome

    /// A device of this app, revoked ones too.
    func device(app: String, id: String) async throws(TenonError) -> Device?

    /// The keys that a device had, the last one first, at most `limit`: one of them may have signed what the present
    /// one has not.
    func retiredKeys(ofDevice id: String, limit: Int) async throws(TenonError) -> [RetiredKey]

    /// Records a good signature by a retired key.
    func retiredKeyUsed(_ key: PublicKey, at now: AuthorityInstant) async throws(TenonError) -> RetiredKeyUse

    // MARK: AK certificates and EKs

    /// Records a certificate of the attestation CA before it leaves; false when its EK is denied.
    func record(_ certificate: AKCertificate) async throws(TenonError) -> Bool

    func certificate(serial: [UInt8]) async throws(TenonError) -> AKCertificate?

    /// Whether the deny list holds HMAC(K_ek, ek_id).
    func isDenied(ek: Digest) async throws(TenonError) -> Bool

    // MARK: What operators ask

    /// Revokes, and says what. A second time says the same. The reason is for the audit log.
    func revoke(
        _ revocation: Revocation, reason: String, at now: AuthorityInstant
    ) async throws(TenonError) -> Revocation.Outcome

    /// Says what a revocation would do, and changes nothing.
    func preview(_ revocation: Revocation, at now: AuthorityInstant) async throws(TenonError) -> Revocation.Outcome

    /// Decides about a device that is pending. A second time says the same. The reason is for the audit log.
    func decide(
        _ approval: Approval, device id: String, reason: String
    ) async throws(TenonError) -> Approval.Outcome

    /// Devices that wait for a decision, as ``devices(app:from:limit:)`` gives all.
    func pendingDevices(app: String?, from place: Int64?, limit: Int) async throws(TenonError) -> DevicePage

    /// Takes an EK from the deny list; false when it is not there. What was revoked stays so.
    func allow(ek: Digest, reason: String) async throws(TenonError) -> Bool

    /// Where a device is in the order of registration; it may be a damaged one.
    func place(ofDevice id: String) async throws(TenonError) -> Int64?

    /// Devices of an app, or of all, from a place that a page named; at most `limit`, which is 1 to 1,000.
    func devices(app: String?, from place: Int64?, limit: Int) async throws(TenonError) -> DevicePage

    // MARK: What services ask

    /// A step of a service in its own tables: one transaction, which is stored when this returns, or nothing of it. It
    /// may be run again when another came between.
    func step<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value

    // MARK: The audit log, and what a timer asks

    /// From now on a change is acknowledged when its line is in this log, where it is once (decision: audit-log). Lines
    /// of changes that an earlier process of this instance did not write are written now, if they can be. Blocks on the
    /// disk: for a start.
    ///
    /// - Returns: in what the log is not the one that was written, where an operator accepts that.
    /// - Throws: ``TenonError/Code/auditChain`` when it is not, and nobody accepts it.
    @discardableResult
    func audit(in log: AuditLog) async throws(TenonError) -> TenonError?

    /// Writes the lines that could not be written when it was their turn, and lets go of what has expired, a little at
    /// a time.
    func tidy(at now: AuthorityInstant) async throws(TenonError)

    /// Changes whose lines are not in the log yet, as far as is known.
    var waitingLines: Int { get }
}
