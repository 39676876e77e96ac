// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TenonCommandLine
import Testing

@Suite struct CommandCodeTests {
    static let codes: [(TenonError.Code, String)] = [
        (.fileLimit, "FILE_LIMIT"), (.output, "OUTPUT"), (.configuration, "CONFIGURATION"), (.storeFull, "STORE_FULL"),
        (.storeBusy, "STORE_BUSY"), (.storeFailed, "STORE_FAILED"), (.storeCorrupt, "STORE_CORRUPT"),
        (.storeVersion, "STORE_VERSION"), (.storeInUse, "STORE_IN_USE"), (.storePermission, "STORE_PERMISSION"),
        (.storeClosed, "STORE_CLOSED"), (.auditChain, "AUDIT_CHAIN"),
    ]

    @Test(arguments: codes)
    func codeHasItsName(_ code: TenonError.Code, _ name: String) {
        #expect(code.description == "TENON_ERROR_" + name)
        #expect(code.rawValue & 0x40_0000 != 0, "it is not the core's")
    }
}
