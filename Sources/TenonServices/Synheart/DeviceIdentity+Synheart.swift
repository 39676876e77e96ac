// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension DeviceIdentity {
    /// The identity of this device at a Synheart service.
    ///
    /// - Parameters:
    ///   - keys: what holds the keys, as a TPM.
    ///   - transport: the way to the service.
    ///   - attestationService: for the dialect ``Dialect/docs``, whose proofs carry a certificate.
    ///   - stateDirectory: where the state lies. It is made with mode 0700 when it is absent.
    ///   - log: what is told what happens; it never hears what must not be written down.
    /// - Throws: what is wrong with the folder, or ``TenonError/Code/httpURL`` where a build for development is to speak
    ///   to another machine.
    public convenience init(
        _ service: Synheart, keys: Keys, transport: any Transport, attestationService: AttestationService? = nil,
        stateDirectory: String, log: LogSink? = nil
    ) throws(TenonError) {
        try self.init(
            appID: service.appID, service: Service(service), keys: keys, transport: transport,
            attestationService: attestationService, stateDirectory: stateDirectory, log: log)
    }
}
