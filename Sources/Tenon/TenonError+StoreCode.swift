// SPDX-License-Identifier: Apache-2.0

// The codes of the authority's stores, of its configuration and its listeners (bit 22 set, from 0x180).
extension TenonError.Code {
    /// The configuration has a mistake; the message names its line.
    public static let configuration = Self(rawValue: 0x0240_0180)
    /// The store holds as much as it may; nothing was put out to make room.
    public static let storeFull = Self(rawValue: 0x0440_0181)
    /// Somebody else holds the store's lock.
    public static let storeBusy = Self(rawValue: 0x0440_0182)
    /// The store could not read or write, or its disk is full: what was asked is not stored.
    public static let storeFailed = Self(rawValue: 0x0540_0183)
    /// The store's file is damaged, or is no store.
    public static let storeCorrupt = Self(rawValue: 0x0540_0184)
    /// A later version of Tenon wrote the store.
    public static let storeVersion = Self(rawValue: 0x0540_0185)
    /// Another process has the store open.
    public static let storeInUse = Self(rawValue: 0x0540_0186)
    /// The store's folder or file belongs to somebody else, or others may write it, or we may not.
    public static let storePermission = Self(rawValue: 0x0640_0187)
    /// The store was closed.
    public static let storeClosed = Self(rawValue: 0x0a40_0188)
    /// A line of the audit log is not the one that was written, or one is missing.
    public static let auditChain = Self(rawValue: 0x0340_0189)

    /// Nobody can connect there: the address, the port or the socket's path is taken, or not ours to take.
    public static let listenerFailed = Self(rawValue: 0x0540_0190)

    var storeName: String? {
        switch self {
        case .configuration: "TENON_ERROR_CONFIGURATION"
        case .storeFull: "TENON_ERROR_STORE_FULL"
        case .storeBusy: "TENON_ERROR_STORE_BUSY"
        case .storeFailed: "TENON_ERROR_STORE_FAILED"
        case .storeCorrupt: "TENON_ERROR_STORE_CORRUPT"
        case .storeVersion: "TENON_ERROR_STORE_VERSION"
        case .storeInUse: "TENON_ERROR_STORE_IN_USE"
        case .storePermission: "TENON_ERROR_STORE_PERMISSION"
        case .storeClosed: "TENON_ERROR_STORE_CLOSED"
        case .auditChain: "TENON_ERROR_AUDIT_CHAIN"
        case .listenerFailed: "TENON_ERROR_LISTENER_FAILED"
        default: nil
        }
    }
}
