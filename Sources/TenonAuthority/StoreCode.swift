// SPDX-License-Identifier: Apache-2.0
public import Tenon

// The codes of the authority's stores and its configuration (0180 to 018f).
extension TenonError.Code {
    /// The configuration has a mistake; the message names its line.
    public static let configuration = Self(0x0240_0180, "TENON_ERROR_CONFIGURATION")
    /// The store holds as much as it may; nothing was put out to make room.
    public static let storeFull = Self(0x0440_0181, "TENON_ERROR_STORE_FULL")
    /// Somebody else holds the store's lock.
    public static let storeBusy = Self(0x0440_0182, "TENON_ERROR_STORE_BUSY")
    /// The store could not read or write, or its disk is full: what was asked is not stored.
    public static let storeFailed = Self(0x0540_0183, "TENON_ERROR_STORE_FAILED")
    /// The store's file is damaged, or is no store.
    public static let storeCorrupt = Self(0x0540_0184, "TENON_ERROR_STORE_CORRUPT")
    /// A later version of Tenon wrote the store.
    public static let storeVersion = Self(0x0540_0185, "TENON_ERROR_STORE_VERSION")
    /// Another process has the store open.
    public static let storeInUse = Self(0x0540_0186, "TENON_ERROR_STORE_IN_USE")
    /// The store's folder or file belongs to somebody else, or others may write it, or we may not.
    public static let storePermission = Self(0x0640_0187, "TENON_ERROR_STORE_PERMISSION")
    /// The store was closed.
    public static let storeClosed = Self(0x0a40_0188, "TENON_ERROR_STORE_CLOSED")
    /// A line of the audit log is not the one that was written, or one is missing.
    public static let auditChain = Self(0x0340_0189, "TENON_ERROR_AUDIT_CHAIN")
    /// A service has stored as much as its quota allows: what was asked is not stored.
    public static let quotaReached = Self(0x0440_018a, "TENON_ERROR_QUOTA_REACHED")
}
