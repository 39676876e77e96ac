// SPDX-License-Identifier: Apache-2.0

extension TenonError {
    /// What went wrong: a status of the C core, or a code of this module.
    ///
    /// The raw value is a `tenon_status` (`tenon/status.h`): bits 24-30 are the category, the rest the cause. Causes with
    /// bit 23 set are the TPM's; those with bit 22 set belong to this module and are never given by the C core.
    ///
    /// Not an enum: a later version may know more. Switch with a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int32

        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// What a caller does about it.
        public var category: Category { Category(rawValue: rawValue >> 24 & 0x7f) }

        /// The TPM's layer (bits 16-19) and response code (bits 0-15), when the TPM is the cause.
        public var tpmCode: UInt32? { rawValue & 0x80_0000 == 0 ? nil : UInt32(rawValue & 0xf_ffff) }
    }
}
