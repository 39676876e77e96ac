// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonCommandLine
import TenonITWallet
import Testing

@testable import TenonCommand

@Suite struct ServicesTests {
    /// `--dialect` and a record select a service, so that no name may stand for two.
    @Test func namesAreUnique() {
        #expect(Set(Services.dialects).count == Services.dialects.count)
        #expect(Set(Services.all.map(\.profile)).count == Services.all.count)
        for service in Services.all {
            #expect(!service.dialects.isEmpty)
            #expect(service.dialects.allSatisfy { Services.speaking($0)?.profile == service.profile })
        }
    }

    /// A service's profile finds its identities again.
    @Test func profileIsThatOfTheRecord() throws {
        for service in Services.all {
            let url = try service.normalURL("https://example.org/auth/")
            for dialect in service.dialects {
                let declaration = try service.makeProfile(url, "app", dialect).declaration
                #expect(declaration.profile == service.profile && declaration.dialect == dialect)
                #expect(declaration.baseURL == url)
            }
            let name = try IdentityName(profile: service.profile, baseURL: url, appID: "app")
            #expect(try Services.of(name).profile == service.profile)
        }
    }

    /// A provider that does not know the instance has not said that all is well.
    @Test func onlyAnActiveInstanceIsASuccess() {
        #expect(ITWalletStatusCommand.category(.active) == nil)
        #expect([WalletStatus.revoked, .unknown].map(ITWalletStatusCommand.category) == [.state, .state])
    }

    @Test func unknownService() throws {
        let name = try IdentityName(profile: "unheard-of", baseURL: "https://example.org", appID: "app")
        let error = #expect(throws: TenonError.self) { try Services.of(name) }
        #expect(error?.code == .recordVersion && error?.message.contains("unheard-of") == true)
    }

    @Test func listsForPeople() {
        #expect(Services.oneOf(["docs"]) == "docs")
        #expect(Services.oneOf(["docs", "tenon"]) == "docs or tenon")
        #expect(Services.oneOf(["docs", "tenon", "toy"]) == "docs, tenon or toy")
        #expect(throws: TenonError.self) { try Services.normalURL("ftp://example.org") }
    }
}
