// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Tenon
import TenonTPM
import Testing

/// A TPM without a resource manager keeps the objects that a program leaves there.
@Suite(.timeLimit(.minutes(1))) struct BareTPMTests {
    /// A program that returns frees nothing: its globals live as long as it does.
    @Test func nothingStaysBetweenCalls() async throws {
        let software = try SoftwareTPM(isBare: true)
        let tpm = try software.tpm()
        let key = try await TPM.PrivateKey(in: tpm, auth: Sample.secret)
        #expect(software.leftovers == 0)
        let signature = try await key.signature(for: Sample.data)
        #expect(key.publicKey.isValidSignature(signature, for: Sample.data))
        #expect(software.leftovers == 0)
        let ak = try await TPM.AttestationKey(beside: key)
        _ = try await key.attest(by: ak, qualifyingData: Sample.data)
        #expect(software.leftovers == 0)
        #expect(try await tpm.loadedHandles() == [])
        withExtendedLifetime((tpm, key, ak)) {}
    }

    @Test func whatOthersLeftIsNamed() throws {
        let software = try SoftwareTPM(isBare: true)
        let tpm = try software.tpm(TPM.Options(deadline: .milliseconds(5)))
        let key = try TPM.PrivateKey(in: tpm)
        #expect(support_fill_transient(software.device) == 0)
        let handles = try tpm.loadedHandles()
        #expect(handles.count >= 3 && handles.allSatisfy { $0 >> 24 == 0x80 })
        for error in [
            errorThrown { try key.signature(for: Sample.data) },
            errorThrown { _ = try TPM.PrivateKey(in: tpm) },
        ] {
            #expect(error?.code.category == .transient && error?.tpmCode == 0x902)
            #expect(error?.code.description == "TENON_TPM_FULL")
            for handle in handles { #expect(error?.message.contains("0x\(String(handle, radix: 16))") == true) }
        }
        #expect(support_flush_all(software.device) == 0)
        #expect(try key.publicKey.isValidSignature(key.signature(for: Sample.data), for: Sample.data))
    }

    /// Like eight processes at one TPM: each has its own handle and connection.
    @Test func eightAtOnce() async throws {
        let software = try SoftwareTPM(isBare: true)
        let file = try await TPM.PrivateKey(in: software.tpm()).dataRepresentation
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    let error = await errorAwaited {
                        let tpm = try software.tpm(TPM.Options(deadline: .seconds(20)))
                        let key = try await TPM.PrivateKey(dataRepresentation: file, in: tpm)
                        return try await key.signature(for: Sample.data)
                    }
                    #expect(error == nil)
                }
            }
        }
        await software.waitUntilClosed()
        #expect(software.leftovers == 0)
    }
}
