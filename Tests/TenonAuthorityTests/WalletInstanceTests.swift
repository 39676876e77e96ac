// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TenonAuthorityITWallet
import Testing

/// The state of instances, their revocation and their accounts.
@Suite struct WalletInstanceTests {
    private var rig: WalletRig { .current }

    /// Who knows a tag may ask for its state; there is no list for devices.
    @Test(.wallet) func theDeviceAsks() async throws {
        let device = try await rig.initialized()
        let path = "/it-wallet/wallet/wallet-instances"
        let answer = await rig.ask("GET", "\(path)/\(device.tag)")
        #expect(answer.status == 200 && answer.header("Cache-Control") == "no-store")
        #expect(
            answer.json == [
                "id": .string(device.tag), "status": "ACTIVE", "issued_at": .integer(rig.clock.now().seconds),
            ])
        let unknown = TextEncoding.base64url.encode([UInt8](random: 32))
        for (method, target, words) in [
            ("GET", "\(path)/\(unknown)", "404 not_found"), ("GET", "\(path)/a", "404 not_found"),
            ("GET", path, "404 not_found"), ("GET", path + "/", "404 not_found"),
            ("GET", "\(path)/\(device.tag)/x", "404 not_found"),
            ("GET", "/it-wallet/other/wallet-instances/\(device.tag)", "404 not_found"),
            ("PATCH", "\(path)/\(device.tag)", "405 bad_request"),
            ("PUT", "\(path)/\(device.tag)/account", "404 not_found"),
        ] {
            #expect(await rig.ask(method, target).wallet == words, "\(method) \(target)")
        }
    }

    @Test("WP_033 WP_147 WP_148 WP_153: exactly {\"status\":\"REVOKED\"} revokes, and a revoked instance stays revoked")
    func revocation() async throws {
        try await WalletRig.with { rig in
            let (device, other) = (try await rig.initialized(), try await rig.initialized())
            let target = "wallet-instances/\(device.tag)"
            for body in [
                [:], ["status": "ACTIVE"], ["status": "revoked"], ["status": ["REVOKED"]],
                ["status": "REVOKED", "reason": "x"],
            ] as [JSON] {
                #expect(try await rig.portal("PATCH", target, body).wallet == "400 bad_request")
            }
            #expect(try await rig.portal("GET", target).json["status"] == "ACTIVE")
            for _ in 0..<2 {
                let answer = try await rig.portal("PATCH", target, ["status": "REVOKED"])
                #expect(answer.wallet == "204" && answer.body.isEmpty)
            }
            let state = await rig.ask("GET", "/it-wallet/wallet/" + target)
            #expect(state.json["status"] == "REVOKED" && state.json["id"]?.string == device.tag)
            #expect(try await rig.initialize(device).wallet == "403 invalid_request")
            #expect(try await rig.portal("GET", "wallet-instances/\(other.tag)").json["status"] == "ACTIVE")
            let unknown = "wallet-instances/" + TextEncoding.base64url.encode([UInt8](random: 32))
            #expect(try await rig.portal("PATCH", unknown, ["status": "REVOKED"]).wallet == "404 not_found")
        }
    }

    @Test("WP_041 WP_042 WP_043 WP_044: only the app's backends ask and revoke", .wallet)
    func backends() async throws {
        let device = try await rig.initialized()
        let body = try (["status": "REVOKED"] as JSON).encoded()
        for (token, words) in [
            (nil, "401 unauthorized"), ("nobody", "401 unauthorized"), (WalletRig.token + "2", "403 forbidden"),
        ] {
            let headers = token.map { [(name: "Authorization", value: "Bearer " + $0)] } ?? []
            for (method, target, body) in [
                ("GET", "wallet-instances?account=a", []), ("GET", "wallet-instances/" + device.tag, []),
                ("PATCH", "wallet-instances/" + device.tag, body),
                ("PUT", "wallet-instances/\(device.tag)/account", try (["account": "a"] as JSON).encoded()),
            ] {
                let answer = await rig.ask(
                    method, "/it-wallet/wallet/" + target, body, at: .internal, headers: headers)
                #expect(answer.wallet == words, "\(method) \(target)")
            }
        }
        #expect(try await rig.portal("GET", "wallet-instances/" + device.tag).json["status"] == "ACTIVE")
    }

    @Test("WP_138 WP_145 WP_146: an account has its instances, each with id, status and issued_at", .wallet)
    func accounts() async throws {
        let (first, second, other) = (
            try await rig.initialized(), try await rig.initialized(), try await rig.initialized()
        )
        for (device, account) in [(first, "Ann & Bob"), (second, "Ann & Bob"), (other, "Eve")] {
            let target = "wallet-instances/\(device.tag)/account"
            for _ in 0..<2 {
                #expect(try await rig.portal("PUT", target, ["account": .string(account)]).wallet == "204")
            }
            #expect(try await rig.portal("PUT", target, ["account": "Mallory"]).wallet == "403 forbidden")
        }
        _ = try await rig.portal(
            "PATCH", "wallet-instances/\(second.tag)?account=Ann%20%26%20Bob", ["status": "REVOKED"])
        let list = try await rig.portal("GET", "wallet-instances?account=Ann%20%26%20Bob").json.array ?? []
        #expect(Set(list.compactMap { $0["id"]?.string }) == [first.tag, second.tag])
        for entry in list {
            #expect(Set(entry.object?.members.map(\.key) ?? []) == ["id", "issued_at", "status"])
            #expect(entry["status"] == (entry["id"]?.string == second.tag ? "REVOKED" : "ACTIVE"))
        }
        #expect(try await rig.portal("GET", "wallet-instances?account=nobody").json == [])
        // Another account's instance, or one without its account.
        for query in ["", "?account=Eve"] {
            let target = "wallet-instances/\(first.tag)\(query)"
            #expect(try await rig.portal("GET", target).wallet == "403 forbidden")
            #expect(try await rig.portal("PATCH", target, ["status": "REVOKED"]).wallet == "403 forbidden")
        }
    }

    @Test(.wallet) func queriesAndBodies() async throws {
        let device = try await rig.initialized()
        for query in ["", "?", "?account=", "?account=a&b=c", "?user=a", "?account=%GG", "?account=%00"] {
            #expect(try await rig.portal("GET", "wallet-instances" + query).wallet == "400 bad_request", "\(query)")
        }
        for body in [[:], ["account": ""], ["account": 7], ["account": "a", "b": "c"]] as [JSON] {
            let target = "wallet-instances/\(device.tag)/account"
            #expect(try await rig.portal("PUT", target, body).wallet == "400 bad_request")
        }
    }

    @Test("WP_010: an operator's revocation reaches the instance, by its tag", .wallet)
    func operators() async throws {
        let device = try await rig.initialized()
        let body: JSON = ["app_id": "wallet", "device_id": .string(device.tag)]
        #expect(await rig.ask("POST", "/v1/revoke", try body.encoded(), at: .admin).status == 200)
        #expect(try await rig.portal("GET", "wallet-instances/" + device.tag).json["status"] == "REVOKED")
        #expect(try await rig.initialize(device).wallet == "403 invalid_request")
    }
}
