// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension AttestRequest.TPMDescription {
    /// What a TPM says of itself, as an ``AttestRequest`` carries it.
    public init(_ info: TPM.Info) {
        // TPM 2.0 Part 2, 6.13: four characters, those that are missing are zeros.
        let maker = (Array(info.maker.utf8) + [0, 0, 0, 0]).prefix(4)
        self.init(
            manufacturer: maker.reduce(0) { $0 << 8 | UInt32($1) }, model: info.model,
            firmwareVersion: "\(info.firmware >> 32).\(info.firmware & 0xffff_ffff)")
    }
}
