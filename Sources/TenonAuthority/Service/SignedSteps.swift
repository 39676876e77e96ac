// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension AuthorityService {
    /// `GET /v1/device/self`: which key is held, said to either of the two that a device may have in doubt
    /// (decision: own-endpoints).
    func ownState(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let device = try await verify(try DeviceRequest(request), accepting: .presentOrPrevious).device
        return try AuthorityAnswer([
            "device_id": .string(device.id), "key_thumbprint": .string(device.thumbprint),
            "effective_at": .integer(device.keyRotatedAt ?? device.registeredAt), "status": "registered",
        ])
    }

    /// `/v1/echo`: a resource that takes signed requests only, to show how.
    func echo(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let device = try await verify(try DeviceRequest(request)).device
        return try AuthorityAnswer([
            "app_id": .string(device.app), "device_id": .string(device.id),
            "attestation": .string(device.level.rawValue), "method": .string(request.method),
            "path": .string(request.path), "body_bytes": .integer(Int64(request.body.count)),
        ])
    }
}
