// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct TenonErrorTests {
    typealias Code = TenonError.Code

    /// Every code of the C core by the name that `tenon/status.h` gives it.
    static let core: [(Code, String)] = [
        (.nullPointer, "NULL"), (.bufferTooSmall, "BUFFER_TOO_SMALL"), (.tooLarge, "TOO_LARGE"), (.empty, "EMPTY"),
        (.flags, "FLAGS"), (.keyOperations, "KEY_OPS"), (.stream, "STREAM"), (.method, "METHOD"), (.path, "PATH"),
        (.timestamp, "TIMESTAMP"), (.nonce, "NONCE"), (.appID, "APP_ID"), (.deviceID, "DEVICE_ID"),
        (.clientData, "CLIENT_DATA"), (.event, "EVENT"), (.digestNotAllowed, "DIGEST_NOT_ALLOWED"),
        (.options, "OPTIONS"), (.tcti, "TCTI"), (.simulator, "SIMULATOR"), (.authValue, "AUTH_VALUE"),
        (.forked, "FORKED"), (.notPersistent, "NOT_PERSISTENT"), (.notMadeHere, "NOT_MADE_HERE"),
        (.dataIsMessage, "DATA_IS_MESSAGE"), (.base64Length, "BASE64_LENGTH"), (.base64Alphabet, "BASE64_ALPHABET"),
        (.base64Padding, "BASE64_PADDING"), (.base64StrayBits, "BASE64_STRAY_BITS"), (.hexLength, "HEX_LENGTH"),
        (.hexAlphabet, "HEX_ALPHABET"), (.derTruncated, "DER_TRUNCATED"), (.derTag, "DER_TAG"),
        (.derLength, "DER_LENGTH"), (.derInteger, "DER_INTEGER"), (.derTrailing, "DER_TRAILING"),
        (.signatureRange, "SIGNATURE_RANGE"), (.pointForm, "POINT_FORM"), (.pointRange, "POINT_RANGE"),
        (.pointOffCurve, "POINT_OFF_CURVE"), (.spkiForm, "SPKI_FORM"), (.scalarRange, "SCALAR_RANGE"),
        (.pemForm, "PEM_FORM"), (.pemFact, "PEM_FACT"), (.keyType, "KEY_TYPE"), (.keyField, "KEY_FIELD"),
        (.keyPublic, "KEY_PUBLIC"), (.keyPrivate, "KEY_PRIVATE"), (.cborTruncated, "CBOR_TRUNCATED"),
        (.cborType, "CBOR_TYPE"), (.cborIndefinite, "CBOR_INDEFINITE"), (.cborNotMinimal, "CBOR_NOT_MINIMAL"),
        (.cborKey, "CBOR_KEY"), (.cborCount, "CBOR_COUNT"), (.cborTrailing, "CBOR_TRAILING"),
        (.proofForm, "PROOF_FORM"), (.signatureForm, "SIGNATURE_FORM"), (.certificateForm, "CERTIFICATE_FORM"),
        (.credentialForm, "CREDENTIAL_FORM"), (.cesr, "CESR"), (.nextKey, "NEXT_KEY"), (.presentation, "PRESENTATION"),
        (.jws, "JWS"), (.authority, "AUTHORITY"), (.query, "QUERY"), (.component, "COMPONENT"), (.keyID, "KEYID"),
        (.batchState, "BATCH_STATE"), (.signatureInput, "SIGNATURE_INPUT"), (.validity, "VALIDITY"),
        (.signatureValue, "SIGNATURE_VALUE"), (.batchSize, "BATCH_SIZE"), (.batchIndex, "BATCH_INDEX"),
        (.batchPath, "BATCH_PATH"), (.signatureHigh, "SIGNATURE_HIGH"), (.contentDigest, "CONTENT_DIGEST"),
        (.batchFull, "BATCH_FULL"), (.deadline, "DEADLINE"), (.signatureInvalid, "SIGNATURE_INVALID"),
        (.keyAttributes, "KEY_ATTRIBUTES"), (.keyName, "KEY_NAME"), (.session, "SESSION"), (.activation, "ACTIVATION"),
        (.tpmTransport, "TPM_TRANSPORT"), (.tpmBusy, "TPM_BUSY"), (.tpmMissing, "TPM_MISSING"),
        (.tpmAnswer, "TPM_ANSWER"), (.parentMissing, "PARENT_MISSING"), (.ekMissing, "EK_MISSING"),
        (.pcrsMissing, "PCRS_MISSING"), (.tpmPermission, "TPM_PERMISSION"), (.authNeeded, "AUTH_NEEDED"),
        (.keyGone, "KEY_GONE"), (.memory, "MEMORY"), (.random, "RANDOM"), (.crypto, "CRYPTO"),
    ]

    /// Every rule of a proof, an AK and an EK certificate.
    static let rules: [(Code, String)] = [
        (.rule1Size, "1_SIZE"), (.rule2CBOR, "2_CBOR"), (.rule3Version, "3_VERSION"), (.rule5Magic, "5_MAGIC"),
        (.rule6Type, "6_TYPE"), (.rule7Nonce, "7_NONCE"), (.rule9Name, "9_NAME"),
        (.rule8NameAlgorithm, "8_NAME_ALGORITHM"), (.rule10QualifiedName, "10_QUALIFIED_NAME"),
        (.rule12BornInTPM, "12_BORN_IN_TPM"), (.rule13SignsOnly, "13_SIGNS_ONLY"),
        (.rule14AuthorisedByUser, "14_AUTHORISED_BY_USER"), (.rule15Attributes, "15_ATTRIBUTES"),
        (.rule16P256, "16_P256"), (.rule18OnCurve, "18_ON_CURVE"), (.rule17Coordinates, "17_COORDINATES"),
        (.rule19PublicKey, "19_PUBLIC_KEY"), (.rule20Algorithm, "20_ALGORITHM"), (.rule21Range, "21_RANGE"),
        (.rule4Trailing, "4_TRAILING"), (.rule22Certificate, "22_CERTIFICATE"), (.rule25Subject, "25_SUBJECT"),
        (.rule27Usage, "27_USAGE"), (.rule28NotACA, "28_NOT_A_CA"), (.rule24Chain, "24_CHAIN"), (.rule29AK, "29_AK"),
        (.rule31AnotherKey, "31_ANOTHER_KEY"), (.rule34EKCertificate, "34_EK_CERTIFICATE"),
        (.rule33EKChain, "33_EK_CHAIN"), (.rule36EKKey, "36_EK_KEY"), (.rule30Firmware, "30_FIRMWARE"),
        (.rule11Parent, "11_PARENT"), (.rule32Signature, "32_SIGNATURE"), (.rule26Maker, "26_MAKER"),
        (.rule37EKAllowed, "37_EK_ALLOWED"), (.rule23Critical, "23_CRITICAL"), (.rule35NotOAEP, "35_NOT_OAEP"),
    ]

    /// Every rule for the events of a log.
    static let logRules: [(Code, String)] = [
        (.log1Size, "1_SIZE"), (.log2Unsigned, "2_UNSIGNED"), (.log3Version, "3_VERSION"),
        (.log4StatedSize, "4_STATED_SIZE"), (.log5Type, "5_TYPE"), (.log6NoInception, "6_NO_INCEPTION"),
        (.log7InceptionAgain, "7_INCEPTION_AGAIN"), (.log8Form, "8_FORM"), (.log9Ended, "9_ENDED"),
        (.log10RotationsOnly, "10_ROTATIONS_ONLY"), (.log11SAID, "11_SAID"), (.log12Sequence, "12_SEQUENCE"),
        (.log13Identifier, "13_IDENTIFIER"), (.log14Prior, "14_PRIOR"), (.log15Key, "15_KEY"),
        (.log16Attachment, "16_ATTACHMENT"), (.log17LowS, "17_LOW_S"), (.log18Signature, "18_SIGNATURE"),
        (.log19SelfCertifying, "19_SELF_CERTIFYING"), (.log20Witnesses, "20_WITNESSES"),
        (.log21Threshold, "21_THRESHOLD"), (.log22Next, "22_NEXT"), (.log23Traits, "23_TRAITS"),
        (.log24Commitment, "24_COMMITMENT"),
    ]

    static let quoteRules: [(Code, String)] = [
        (.quote1Size, "1_SIZE"), (.quote2CBOR, "2_CBOR"), (.quote3Version, "3_VERSION"),
        (.quote4Trailing, "4_TRAILING"), (.quote5Magic, "5_MAGIC"), (.quote6Type, "6_TYPE"),
        (.quote7Nonce, "7_NONCE"), (.quote8Bank, "8_BANK"), (.quote9PCRs, "9_PCRS"), (.quote10Values, "10_VALUES"),
        (.quote11Algorithm, "11_ALGORITHM"), (.quote12Range, "12_RANGE"), (.quote13Signature, "13_SIGNATURE"),
    ]

    /// Every code of the module.
    static let module: [(Code, String)] = [
        (.length, "LENGTH"), (.jsonTooLarge, "JSON_TOO_LARGE"), (.jsonTooManyValues, "JSON_TOO_MANY_VALUES"),
        (.jsonTooDeep, "JSON_TOO_DEEP"), (.jsonByteOrderMark, "JSON_BYTE_ORDER_MARK"), (.jsonSyntax, "JSON_SYNTAX"),
        (.jsonTruncated, "JSON_TRUNCATED"), (.jsonTrailingBytes, "JSON_TRAILING_BYTES"),
        (.jsonTrailingComma, "JSON_TRAILING_COMMA"), (.jsonDuplicateKey, "JSON_DUPLICATE_KEY"),
        (.jsonUTF8, "JSON_UTF8"), (.jsonControlCharacter, "JSON_CONTROL_CHARACTER"), (.jsonEscape, "JSON_ESCAPE"),
        (.jsonLoneSurrogate, "JSON_LONE_SURROGATE"), (.jsonNumberForm, "JSON_NUMBER_FORM"),
        (.jsonLeadingZero, "JSON_LEADING_ZERO"), (.jsonNotFinite, "JSON_NOT_FINITE"),
        (.jsonNumberRange, "JSON_NUMBER_RANGE"), (.messageMember, "MESSAGE_MEMBER"),
        (.secretNotPending, "SECRET_NOT_PENDING"), (.pendingFull, "PENDING_FULL"), (.cancelled, "CANCELLED"),
        (.httpURL, "HTTP_URL"), (.httpHeader, "HTTP_HEADER"), (.httpConnect, "HTTP_CONNECT"),
        (.httpNoAnswer, "HTTP_NO_ANSWER"), (.statePath, "STATE_PATH"), (.stateOwner, "STATE_OWNER"),
        (.stateKind, "STATE_KIND"), (.statePermission, "STATE_PERMISSION"), (.stateFull, "STATE_FULL"),
        (.stateReadOnly, "STATE_READ_ONLY"), (.stateIO, "STATE_IO"), (.stateFolderGone, "STATE_FOLDER_GONE"),
        (.stateBusy, "STATE_BUSY"), (.recordForm, "RECORD_FORM"), (.recordSum, "RECORD_SUM"),
        (.recordVersion, "RECORD_VERSION"), (.stateMissing, "STATE_MISSING"), (.stateUnresolved, "STATE_UNRESOLVED"),
        (.invalidStateTransition, "INVALID_STATE_TRANSITION"), (.operationInFlight, "OPERATION_IN_FLIGHT"),
        (.slotTaken, "SLOT_TAKEN"), (.keyGeneration, "KEY_GENERATION"), (.dialectChanged, "DIALECT_CHANGED"),
        (.serviceStep, "SERVICE_STEP"), (.serviceAnswer, "SERVICE_ANSWER"), (.serviceRefused, "SERVICE_REFUSED"),
        (.serviceBusy, "SERVICE_BUSY"), (.challengeExpired, "CHALLENGE_EXPIRED"),
        (.attestationUnavailable, "ATTESTATION_UNAVAILABLE"), (.attestationFailed, "ATTESTATION_FAILED"),
        (.registrationPending, "REGISTRATION_PENDING"), (.registrationRejected, "REGISTRATION_REJECTED"),
        (.notRegistered, "NOT_REGISTERED"), (.deviceRevoked, "DEVICE_REVOKED"), (.keyInvalidated, "KEY_INVALIDATED"),
        (.rotationFailed, "ROTATION_FAILED"), (.outcomeUnknown, "OUTCOME_UNKNOWN"), (.keyRefused, "KEY_REFUSED"),
        (.clockSkew, "CLOCK_SKEW"), (.nonceReplay, "NONCE_REPLAY"),
        (.registrationInProgress, "REGISTRATION_IN_PROGRESS"), (.foreignTPM, "FOREIGN_TPM"),
        (.keyExpired, "KEY_EXPIRED"), (.rotationOpen, "ROTATION_OPEN"),
    ]

    @Test(
        arguments: [
            ("ERROR", core + module), ("RULE", rules), ("KERI", logRules), ("QUOTE", quoteRules),
        ] as [(String, [(Code, String)])])
    func codesHaveTheirNames(_ kind: String, _ codes: [(Code, String)]) {
        for (code, name) in codes {
            #expect(code.description == "TENON_\(kind)_\(name)")
            if kind != "ERROR" { #expect(code.category == .rejected) }
        }
    }

    /// A status that the core has and this module does not is found here.
    @Test func everyNamedCodeIsKnown() {
        let known = Set((Self.core + Self.rules + Self.logRules + Self.quoteRules).map(\.0))
        var named: Set<Code> = []
        for category in Int32(1)...12 {
            for cause in Int32(1)...0x4ff {
                let code = Code(rawValue: category << 24 | cause)
                if code.description != "TENON_ERROR_UNNAMED" { named.insert(code) }
            }
        }
        #expect(named.subtracting(known).isEmpty, "the core has a status that is no code here")
        #expect(known.subtracting(named).isEmpty, "a code has no name")
    }

    @Test func codesOfStateAreInTheirList() {
        let numbers = Self.module.map(\.0).filter { 0x40_01a0...0x40_01bf ~= $0.rawValue & 0xff_ffff }
        #expect(Set(numbers) == Set(Code.ofState))
    }

    @Test func moduleCodesAreNeverTheCores() {
        for (code, _) in Self.module { #expect(code.rawValue & 0x40_0000 != 0) }
        for (code, _) in Self.core { #expect(code.rawValue & 0x40_0000 == 0) }
    }

    @Test(
        arguments: [
            (TenonError.Category.argument, 1), (.format, 2), (.rejected, 3), (.transient, 4), (.unavailable, 5),
            (.permission, 6), (.auth, 7), (.gone, 8), (.internal, 9), (.state, 10), (.unknown, 11),
        ] as [(TenonError.Category, Int32)])
    func categoryIsTheHighByte(_ category: TenonError.Category, _ number: Int32) {
        #expect(Code(rawValue: number << 24 | 0x7f_ffff).category == category)
        #expect(Code(rawValue: number << 24 | 0xff_ffff).category == category)
    }

    @Test func categoryOfSomeCodes() {
        #expect(Code.path.category == .argument)
        #expect(Code.derTag.category == .format)
        #expect(Code.signatureInvalid.category == .rejected)
        #expect(Code.random.category == .internal)
        #expect(Code.jsonSyntax.category == .format)
        #expect(Code(rawValue: 0).category.rawValue == 0)
    }

    @Test func tpmCodeTravelsInTheCode() {
        let refused = TenonError(Code(rawValue: 0x0780_098e), message: "refused")
        #expect(refused.tpmCode == 0x98e)
        #expect(refused.code.category == .auth)
        #expect(refused.code.description == "TENON_TPM_AUTH")
        #expect(refused.description == "TENON_TPM_AUTH: refused [TPM 0x98e]")
        #expect(TenonError(Code(rawValue: 0x0488_0922), message: "").tpmCode == 0x8_0922)
        #expect(TenonError(.path, message: "").tpmCode == nil)
        #expect(Code(rawValue: -1).tpmCode == 0xf_ffff)
    }

    @Test func equalityIsTheCodes() {
        let left = TenonError(.path, message: "one", httpStatus: 400)
        #expect(left == TenonError(.path, message: "two", serverCode: "X"))
        #expect(left != TenonError(.method, message: "one", httpStatus: 400))
        #expect(Set([left, TenonError(.path, message: "two")]).count == 1)
    }

    @Test func descriptionSaysAllThatIsKnown() {
        let error = TenonError(
            .signatureInvalid, message: "No.", httpStatus: 401, serverCode: "CLOCK_SKEW", retryAfter: .seconds(2))
        #expect(
            error.description
                == "TENON_ERROR_SIGNATURE_INVALID: No. [HTTP 401] [CLOCK_SKEW] [retry after \(Duration.seconds(2))]")
    }

    @Test(arguments: ["A\nB", "A\u{1b}[2J", "É", String(repeating: "A", count: 65), "two words"])
    func whatThePeerWroteCannotSpoilALine(_ serverCode: String) {
        let error = TenonError(.path, message: "No.", serverCode: serverCode)
        #expect(error.description == "TENON_ERROR_PATH: No.")
        #expect(error.serverCode == serverCode)
    }

    @Test func messageIsTheCores() {
        #expect(
            #expect(throws: TenonError.self) { try RequestMessage(method: "get", path: "/", timestamp: "1700000000") }?
                .message == "The method must be 1 to 32 letters A-Z; write it in upper case.")
    }
}
