// SPDX-License-Identifier: Apache-2.0
internal import CTenon

// The rules of `tenon/keri.h` for the events of a log, each by its number there.
extension TenonError.Code {
    /// The event is empty or larger than allowed.
    public static let log1Size = Self(TENON_KERI_1_SIZE)
    /// The event has no attachment, so nothing proves who made it.
    public static let log2Unsigned = Self(TENON_KERI_2_UNSIGNED)
    /// The event does not begin with a version of KERI 1 in JSON.
    public static let log3Version = Self(TENON_KERI_3_VERSION)
    /// The size that the event states is not its size.
    public static let log4StatedSize = Self(TENON_KERI_4_STATED_SIZE)
    /// The event is not an inception, a rotation or an interaction.
    public static let log5Type = Self(TENON_KERI_5_TYPE)
    /// The log does not begin with an inception.
    public static let log6NoInception = Self(TENON_KERI_6_NO_INCEPTION)
    /// The log has a second inception.
    public static let log7InceptionAgain = Self(TENON_KERI_7_INCEPTION_AGAIN)
    /// The event does not have the fields of its type, in order and as compact JSON.
    public static let log8Form = Self(TENON_KERI_8_FORM)
    /// The log has ended: its last event committed to no next key.
    public static let log9Ended = Self(TENON_KERI_9_ENDED)
    /// The inception allows rotations only.
    public static let log10RotationsOnly = Self(TENON_KERI_10_ROTATIONS_ONLY)
    /// The event's SAID is not its digest.
    public static let log11SAID = Self(TENON_KERI_11_SAID)
    /// The event's sequence number is not the next one.
    public static let log12Sequence = Self(TENON_KERI_12_SEQUENCE)
    /// The event belongs to another identifier.
    public static let log13Identifier = Self(TENON_KERI_13_IDENTIFIER)
    /// The event does not follow the last one of the log.
    public static let log14Prior = Self(TENON_KERI_14_PRIOR)
    /// The event does not have exactly one P-256 key in CESR.
    public static let log15Key = Self(TENON_KERI_15_KEY)
    /// The attachment is not one signature in CESR with index 0.
    public static let log16Attachment = Self(TENON_KERI_16_ATTACHMENT)
    /// The signature of the event has a high s.
    public static let log17LowS = Self(TENON_KERI_17_LOW_S)
    /// The event was not signed by its key.
    public static let log18Signature = Self(TENON_KERI_18_SIGNATURE)
    /// The identifier is not the SAID of its inception.
    public static let log19SelfCertifying = Self(TENON_KERI_19_SELF_CERTIFYING)
    /// The event has witnesses, which Tenon does not support.
    public static let log20Witnesses = Self(TENON_KERI_20_WITNESSES)
    /// The thresholds of the event are not those of one key.
    public static let log21Threshold = Self(TENON_KERI_21_THRESHOLD)
    /// The event does not commit to exactly one next key by its BLAKE3 digest.
    public static let log22Next = Self(TENON_KERI_22_NEXT)
    /// The inception has an unknown trait, or one twice.
    public static let log23Traits = Self(TENON_KERI_23_TRAITS)
    /// The key of the rotation is not the one that the log committed to.
    public static let log24Commitment = Self(TENON_KERI_24_COMMITMENT)
}
