// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct IdentityNameTests {
    private func id(_ profile: String, _ url: String, _ app: String) throws(TenonError) -> String {
        try IdentityName(profile: profile, baseURL: url, appID: app).id
    }

    /// `printf 'tenon-identity\nsynheart\nhttps://auth.example/v1\napp' | sha256sum`
    @Test func isTheBeginningOfAHash() throws {
        #expect(try id("synheart", "https://auth.example/v1", "app") == "45fa57be691bc07948a7c426cb9c1ca7")
        #expect(try id("synheart", "https://auth.example/v1//", "app") == "45fa57be691bc07948a7c426cb9c1ca7")
        #expect(try RecordShape.name().record == "45fa57be691bc07948a7c426cb9c1ca7.record")
        #expect(try RecordShape.name().file(.generation(12)) == "45fa57be691bc07948a7c426cb9c1ca7.g12.pem")
        #expect(try RecordShape.name().file(.attestation) == "45fa57be691bc07948a7c426cb9c1ca7.ak.pem")
    }

    @Test func appsServicesAndProfilesAreApart() throws {
        let ids = try [
            id("synheart", "https://a", "x"), id("synheart", "https://a", "x_next"),
            id("synheart", "https://a", "x_g2"),
            id("synheart", "https://a", "X"), id("synheart", "https://b", "x"), id("synheart", "https://a:8443", "x"),
            id("synheart", "https://a/x", "x"), id("auths", "https://a", "x"), id("synhear", "https://a", "tx"),
        ]
        #expect(Set(ids).count == ids.count)
    }

    static let visible = [
        "x", "x_next", "x.g2.pem", "../../etc/passwd", "/", "..", ".", "a/b", "C:\\x", "%00", "*", "-rf", "~",
        String(repeating: "a", count: 200),
    ]

    /// Whatever the name of an app is, its files lie in the folder, beside those of other apps.
    @Test(arguments: visible)
    func noNameOfAnAppIsPartOfAPath(_ appID: String) throws {
        let name = try RecordShape.name(appID)
        for file in [
            name.record, name.lock, name.attestationCertificate, name.file(.generation(1)), name.file(.attestation),
        ] {
            #expect(file.hasPrefix(name.id + "."))
            #expect(file.utf8.allSatisfy { "0123456789abcdefgklmnoprtcdk.".utf8.contains($0) }, "\(file)")
        }
        #expect(name.appID == appID)
    }

    static let invisible = [
        "", " ", "a b", "a\n", "a\0b", "\u{7f}", "é", "e\u{301}", "\u{202e}app", "ａｐｐ", "app\u{200b}",
        String(repeating: "a", count: 201), String(repeating: "a", count: 10_240),
    ]

    @Test(arguments: invisible)
    func otherTextsAreNoApps(_ appID: String) {
        #expect(codeThrown { try RecordShape.name(appID) } == .appID)
    }

    @Test func otherTextsAreNoServices() {
        for (profile, url) in [
            ("", "https://a"), ("s", ""), ("s", "///"), ("s p", "https://a"), ("s", "https://a\nb"), ("s", "https://é"),
            (String(repeating: "s", count: 65), "https://a"), ("s", String(repeating: "u", count: 2049)),
        ] {
            #expect(codeThrown { try id(profile, url, "app") } == .statePath)
        }
    }

    @Test func deviceIDs() {
        #expect(IdentityName.isDeviceID("dev_1") && IdentityName.isDeviceID(String(repeating: "d", count: 128)))
        for text in ["", "a b", "é", "a\r\nX-Header: 1", String(repeating: "d", count: 129)] {
            #expect(!IdentityName.isDeviceID(text))
        }
    }
}
