/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_VERIFY_H
#define TENON_VERIFY_H

#include "tenon/api.h"
#include "tenon/proof.h"
#include "tenon/status.h"
#include "tenon/types.h"

/*
 * Verifying a proof. Each rule has a code of its own, TENON_RULE_<number>_<what> in tenon/status.h. Rules 1 to 32 are
 * numbered in the order in which tenon_proof_verify checks them, and the first that does not hold decides. Rules 33 to
 * 37 are about EK certificates, in tenon/activate.h.
 *
 * Evidence: that a TPM certified this key for this nonce.
 *    1   the sizes of tenon/proof.h; a proof of more than TENON_PROOF_MAX bytes is not read
 *    2   the CBOR is deterministic, its keys are those of a statement (TENON_ERROR_CBOR_*)
 *    3   fmt is "tpm", ver is "2.0", alg is ES256 (TENON_ERROR_PROOF_FORM)
 *    4   pubArea, certInfo and sig are read to their ends and hold nothing else
 *    5   certInfo begins with TPM_GENERATED_VALUE
 *    6   it was made by TPM2_Certify
 *    7   extraData is the nonce: 32 bytes, compared in constant time
 *    8   the key's nameAlg is SHA-256
 *    9   the certified Name is the Name of pubArea
 *   10   the qualified Name is well formed and differs from the Name, so the key was not loaded from outside with
 *        TPM2_LoadExternal. Keys of the NULL, platform and endorsement hierarchies pass, and so do primary keys: a key
 *        of the NULL hierarchy is gone after the next reset of the TPM, and the firmware can use a key of the platform
 *        hierarchy
 *   11   with the parent's qualified Name in the policy: the key's qualified Name is that of a child of this parent.
 *        The qualified Name of a primary key of the owner hierarchy is nameAlg and the digest of 40000001
 *        (TPM_RH_OWNER) and the Name. The device itself may therefore say its parent's Name: for a key of another
 *        hierarchy no Name fits
 *   12   fixedTPM, fixedParent and sensitiveDataOrigin are set
 *   13   sign is set; decrypt, restricted, encryptedDuplication and stClear are clear
 *   14   userWithAuth is set, adminWithPolicy clear, the policy empty
 *   15   no attribute other than noDA is set
 *   16   ECC, P-256, no symmetric scheme, no kdf, scheme NULL or ECDSA with SHA-256
 *   17   the coordinates are 1 to 32 bytes; zeros that the TPM left out are put back on the left
 *   18   the point is on the curve
 *   19   it is the public key that was submitted
 *   20   sig is ECDSA with SHA-256
 *   21   r and s are at most 32 bytes and in 1 .. n-1
 *
 * Who the AK is, with policy.ak: its public area must be that of an attestation key.
 *   22   x5c is empty
 *   29   restricted, sign, fixedTPM, fixedParent, sensitiveDataOrigin and userWithAuth are set, noDA may be, nothing
 *        else; nameAlg SHA-256, P-256, ECDSA with SHA-256, no policy, the point on the curve, nothing behind the end
 *   30   with the EK's Name in the policy, and a signer that is right under this EK: firmwareVersion is at least what
 *        the policy says. A TPM hides the version from any other signer, so it is never believed: without
 *        firmware_min it is noted, and with it the policy demands what this AK cannot say, which is
 *        TENON_ERROR_OPTIONS
 *
 * With policy.roots: the leaf of x5c must be an AK certificate that an authority of the policy issued.
 *   22   x5c is not empty, and each certificate passes a strict walk of its DER before any signature is checked
 *        (tenon/activate.h)
 *   23   none of them has a critical extension that is not known here, or name constraints
 *   24   from the root down: the chain ends below one of the roots, and signatures, authorities, path lengths and dates
 *        hold, and an authority below the root that names EKUs names 2.23.133.8.3 or any;
 *        without roots it never holds
 *   25   subject empty, critical alternative name with maker, model and version of the TPM, one each
 *   26   with makers in the policy: the maker is one of them. Another maker is only noted, unless the policy has
 *        TENON_POLICY_REQUIRE_MAKER
 *   27   EKU 2.23.133.8.3, not 8.1; key usage, if there, digitalSignature
 *   28   not an authority
 *   29   the leaf's key is a P-256 key with its point on the curve. Its issuer has checked that it is an attestation
 *        key
 *
 * Whether this AK made the proof.
 *   31   the AK is not the certified key itself
 *   32   sig is the AK's signature over certInfo
 *
 * Algorithms are fixed and not a matter of policy: key and AK are P-256 keys that sign with ECDSA and SHA-256 (ES256).
 * Only the certificates above an AK's may have other keys, those of tenon/activate.h.
 */

TENON_BEGIN

/* Where trust in the AK comes from; a policy has exactly one of these. */
enum {
    TENON_TRUST_AK = 1,   /* policy.ak, which the service did not take from this request */
    TENON_TRUST_ROOTS = 2 /* the leaf of x5c, which must chain to one of policy.roots */
};

/* Flags of a tenon_policy. */
enum {
    TENON_POLICY_REQUIRE_MAKER = 0x1 /* rule 26 refuses; without makers it is TENON_ERROR_OPTIONS */
};

/*
 * What the verifier demands. If only size, trust and the field of that trust are set, it demands the rules above and
 * nothing more.
 */
typedef struct {
    size_t size;              /* sizeof(tenon_policy) */
    uint32_t trust;           /* TENON_TRUST_*; the fields that belong to the other trust must be empty */
    uint32_t flags;           /* TENON_POLICY_* */
    tenon_bytes ak;           /* TPMT_PUBLIC of the AK */
    const tenon_bytes *roots; /* certificates that are trusted to issue AK certificates */
    size_t roots_count;
    int64_t now; /* Unix seconds, for the certificates' dates */
    /* TENON_NAME_SIZE bytes for rule 11. Empty: not checked, and the report says that the hierarchy is unknown. */
    tenon_bytes parent_qualified_name;
    /* With roots, for rule 26: texts as certificates have them, such as "id:494E5443". Empty: not looked at. */
    const tenon_bytes *makers;
    size_t makers_count;
    /*
     * With ak, for rule 30: the Name of the EK, with SHA-256 or SHA-384. Empty: not judged, and firmware_min has to be
     * 0.
     */
    tenon_bytes ek_name;
    uint64_t firmware_min; /* the least firmwareVersion */
} tenon_policy;

/* The maximum number of lines in a report. */
enum { TENON_REPORT_MAX = 64 };

/* One line of a report: the rule's code, and whether the rule held. A rule that was not reached has no line. */
typedef struct {
    tenon_status rule;
    uint32_t held; /* 1 held, 0 did not, 2 noted: not asked for, not to be judged, or let pass by the policy */
} tenon_check;

/*
 * Every check in order, and what else is worth knowing, for people and logs. It contains no value from the proof, and
 * is filled in for every verdict. The last line is the rule that decided; for rules 2 and 3 the verdict is more precise
 * than the line. After an argument error there are no lines.
 */
typedef struct {
    tenon_status verdict;
    size_t count;
    tenon_check checks[TENON_REPORT_MAX];
    uint32_t clock_safe;      /* TPMS_CLOCK_INFO.safe of a proof that was accepted; else 0 */
    uint32_t hierarchy_known; /* rule 11 was checked, and held */
} tenon_report;

/*
 * Verifies a proof: the key lives in a TPM whose AK the policy trusts, and was certified for this nonce. report may be
 * NULL. Unless the result is TENON_OK, the proof proves nothing. The result is TENON_ERROR_OPTIONS if the policy names
 * neither or both of the trusts, has another size, has an unknown flag, or has a field that belongs to the other trust.
 */
TENON_API TENON_MUST_USE tenon_status tenon_proof_verify(tenon_report *report,
                                                         const uint8_t *TENON_COUNTED(proof_n) proof, size_t proof_n,
                                                         const tenon_digest *nonce, const tenon_public_key *key,
                                                         const tenon_policy *policy);

/* Checks rule 29 for a public area, before a service accepts an AK; report may be NULL. */
TENON_API TENON_MUST_USE tenon_status tenon_ak_check(tenon_report *report, const uint8_t *TENON_COUNTED(n) area,
                                                     size_t n);

/*
 * Verifies that a chain, leaf first, is an AK certificate of this AK, before a device keeps it: rules 22 to 29 as above
 * with policy.roots, then rule 19: the leaf's key is ak. If the policy's trust is not TENON_TRUST_ROOTS, the result is
 * TENON_ERROR_OPTIONS. report may be NULL.
 */
TENON_API TENON_MUST_USE tenon_status tenon_ak_certificate_verify(tenon_report *report, const tenon_bytes *chain,
                                                                  size_t count, const tenon_public_key *ak,
                                                                  const tenon_policy *policy);

TENON_END

#endif
