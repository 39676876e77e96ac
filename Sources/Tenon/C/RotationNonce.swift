// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension Digest {
    /// The nonce with which the attestation key certifies a key that takes another one's place. The keys are the base64
    /// texts exactly as they are sent.
    ///
    /// - Throws: ``TenonError/Code/empty``, ``TenonError/Code/tooLarge``.
    public static func rotationNonce(
        origin: String, appID: String, deviceID: String, oldKeyText: String, newKeyText: String, timestamp: String
    ) throws(TenonError) -> Digest {
        let texts = [origin, appID, deviceID, oldKeyText, newKeyText, timestamp]
        var digest = tenon_digest()
        let status = texts.map { Array($0.utf8) }.withCoreBytes { texts, count in
            let texts = UnsafeBufferPointer(start: texts?.assumingMemoryBound(to: tenon_bytes.self), count: count)
            var rotation = tenon_rotation()
            rotation.size = MemoryLayout<tenon_rotation>.size
            (rotation.origin, rotation.origin_n) = texts[0].text
            (rotation.app_id, rotation.app_id_n) = texts[1].text
            (rotation.device_id, rotation.device_id_n) = texts[2].text
            (rotation.old_public_key, rotation.old_public_key_n) = texts[3].text
            (rotation.new_public_key, rotation.new_public_key_n) = texts[4].text
            (rotation.timestamp, rotation.timestamp_n) = texts[5].text
            return tenon_rotation_nonce(&digest, &rotation)
        }
        try TenonError.check(status)
        return Digest(core: digest)
    }
}

extension tenon_bytes {
    fileprivate var text: (UnsafePointer<CChar>?, Int) {
        (UnsafeRawPointer(bytes)?.assumingMemoryBound(to: CChar.self), n)
    }
}
