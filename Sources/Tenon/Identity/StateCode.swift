// SPDX-License-Identifier: Apache-2.0

// The codes of what is on disk (01a0 to 01bf).
extension TenonError.Code {
    /// No folder for the state is named, or not as a path can be.
    public static let statePath = Self(0x0140_01a0, "TENON_ERROR_STATE_PATH")
    /// The state, or its folder, has another owner, or others may write or read it.
    public static let stateOwner = Self(0x0640_01a1, "TENON_ERROR_STATE_OWNER")
    /// The state, or its folder, is a link or no file or folder.
    public static let stateKind = Self(0x0640_01a2, "TENON_ERROR_STATE_KIND")
    /// The state may not be opened or written by this user.
    public static let statePermission = Self(0x0640_01a3, "TENON_ERROR_STATE_PERMISSION")
    /// The disk of the state is full.
    public static let stateFull = Self(0x0540_01a4, "TENON_ERROR_STATE_FULL")
    /// The state lies on a disk that may only be read.
    public static let stateReadOnly = Self(0x0540_01a5, "TENON_ERROR_STATE_READ_ONLY")
    /// The state cannot be read or written, for another reason.
    public static let stateIO = Self(0x0540_01a6, "TENON_ERROR_STATE_IO")
    /// The folder of the state was removed while it was in use.
    public static let stateFolderGone = Self(0x0540_01a7, "TENON_ERROR_STATE_FOLDER_GONE")
    /// Another operation, or another process, works on the identity.
    public static let stateBusy = Self(0x0440_01a8, "TENON_ERROR_STATE_BUSY")
    /// A record is cut short, or does not have the form of a record.
    public static let recordForm = Self(0x0240_01a9, "TENON_ERROR_RECORD_FORM")
    /// A record is not what was written: its sum is wrong.
    public static let recordSum = Self(0x0240_01aa, "TENON_ERROR_RECORD_SUM")
    /// A record was written by a later version.
    public static let recordVersion = Self(0x0240_01ab, "TENON_ERROR_RECORD_VERSION")
    /// There is a key of an identity, and no record of it.
    public static let stateMissing = Self(0x0a40_01ac, "TENON_ERROR_STATE_MISSING")
    /// Only an older record can be read: which key the service holds is not known.
    public static let stateUnresolved = Self(0x0a40_01ad, "TENON_ERROR_STATE_UNRESOLVED")
    /// The state may not follow the one before.
    public static let invalidStateTransition = Self(0x0a40_01ae, "TENON_ERROR_INVALID_STATE_TRANSITION")
    /// An operation is in flight, whose outcome comes first.
    public static let operationInFlight = Self(0x0a40_01af, "TENON_ERROR_OPERATION_IN_FLIGHT")
    /// Another message was made for the same place: it is that one that is sent again.
    public static let slotTaken = Self(0x0a40_01b0, "TENON_ERROR_SLOT_TAKEN")
    /// The key does not exist, or exists already.
    public static let keyGeneration = Self(0x0a40_01b1, "TENON_ERROR_KEY_GENERATION")
    /// The identity was registered in another dialect.
    public static let dialectChanged = Self(0x0a40_01b2, "TENON_ERROR_DIALECT_CHANGED")

    /// All of them.
    package static let ofState: [Self] = [
        .statePath, .stateOwner, .stateKind, .statePermission, .stateFull, .stateReadOnly, .stateIO, .stateFolderGone,
        .stateBusy, .recordForm, .recordSum, .recordVersion, .stateMissing, .stateUnresolved, .invalidStateTransition,
        .operationInFlight, .slotTaken, .keyGeneration, .dialectChanged,
    ]
}
