// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// Requests that an instance signs itself: they go the way of a device's, so that health knows when all are refused.
/// Their devices are in no list, and each has one request: the limits of others are not touched.
struct SelfTest: Sendable {
    private let key: SoftwareKey
    private let thumbprint: String

    init() throws(TenonError) {
        key = try SoftwareKey()
        thumbprint = try key.publicKey.thumbprint
    }

    /// - Parameter seconds: the time that a device would say, which is what the machine's clock says.
    /// - Throws: what a device would be answered.
    func run(_ service: AuthorityService, at seconds: Int64) async throws(TenonError) {
        let app = service.configuration.apps[0]
        let nonce = try RequestHeaders.makeNonce()
        let message = try RequestMessage(method: "GET", path: "/v1/echo", timestamp: String(seconds))
        let headers = try RequestHeaders(
            signature: key.blockingSignature(for: .request(message)), appID: app.id, deviceID: "self-test-\(nonce)",
            timestamp: String(seconds), nonce: nonce)
        let device = Device(
            id: headers.deviceID, app: app.id, level: .unattested, publicKey: key.publicKey, thumbprint: thumbprint,
            attestation: nil, signatureVersions: [1], platform: nil, localID: nil, registeredAt: seconds)
        let request = AuthorityRequest(
            method: "GET", target: "/v1/echo",
            headers: [
                ("X-App-ID", headers.appID), ("X-Device-ID", headers.deviceID),
                ("X-Synheart-Signature", headers.signature), ("X-Synheart-Timestamp", headers.timestamp),
                ("X-Synheart-Nonce", headers.nonce), ("X-Synheart-Sig-Version", headers.signatureVersion),
            ])
        do throws(Refusal) {
            try await service.verify(request, of: device)
        } catch {
            throw TenonError(
                .storeFailed,
                message: "A request that this instance signed was refused with \(error.code.rawValue): \(error.message)"
            )
        }
    }
}

extension AuthorityService {
    fileprivate func verify(_ request: AuthorityRequest, of device: Device) async throws(Refusal) {
        // Nobody is found, but the store is asked.
        _ = try await waiting { () throws(TenonError) in
            try await stores.devices.device(app: device.app, id: device.id)
        }
        _ = try await verify(try DeviceRequest(request), of: device, configuration.apps[0], accepting: .present)
    }
}
