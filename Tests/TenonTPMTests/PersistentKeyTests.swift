// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Tenon
import TenonTPM
import Testing

/// The copy of a key that stays in the TPM.
@Suite(.timeLimit(.minutes(1))) struct PersistentKeyTests {
    private var software: SoftwareTPM { OpenTPM.current.software }
    private var tpm: TPM { OpenTPM.current.tpm }

    @Test(.blockingTPM) func needsNoLoad() throws {
        let made = try TPM.PrivateKey(in: tpm)
        let before = made.dataRepresentation
        let handle = try made.persist()
        #expect(try tpm.persistentHandles() == [handle])
        #expect(made.dataRepresentation != before)
        var area = support_public()
        #expect(support_read_public(software.device, handle, &area) == 0)
        #expect(withUnsafeBytes(of: area.name) { Array($0.prefix(area.name_n)) } == made.name)

        support_transport_reset_counts(software.wire)
        let key = try TPM.PrivateKey(dataRepresentation: made.dataRepresentation, in: software.tpm())
        try expectSigns(key, as: made.publicKey)
        #expect(software.commands() == 1)
        #expect(software.commands(SUPPORT_CC_SIGN) == 1)
    }

    @Test(.blockingTPM) func isTakenAway() throws {
        let key = try TPM.PrivateKey(in: tpm)
        let before = key.dataRepresentation
        #expect(errorThrown { try key.evict() }?.code == .notPersistent)
        try key.persist()
        #expect(key.dataRepresentation != before)
        try key.evict()
        #expect(try tpm.persistentHandles() == [])
        #expect(key.dataRepresentation == before)
        try expectSigns(key)
    }

    @Test(.blockingTPM) func anotherKeyInItsPlace() throws {
        let key = try TPM.PrivateKey(in: tpm)
        let before = key.dataRepresentation
        let handle = try key.persist()
        #expect(support_swap_persistent(software.device, nil, handle) == 0)
        try key.check()
        #expect(key.dataRepresentation == before)
        try expectSigns(key)
        #expect(errorThrown { try key.evict() }?.code == .notPersistent)
        #expect(try tpm.persistentHandles() == [handle])
    }

    @Test(.blockingTPM) func manyHandles() throws {
        var handle: UInt32 = 0
        #expect(support_create_primary(software.device, SUPPORT_RH_OWNER, nil, SUPPORT_SRK_H2, &handle) == 0)
        let handles = (0..<UInt32(40)).map { 0x8101_0000 + $0 }
        for persistent in handles { #expect(support_evict(software.device, nil, handle, persistent) == 0) }
        #expect(support_flush(software.device, handle) == 0)
        let found = try tpm.persistentHandles()
        #expect(found == handles)
    }
}
