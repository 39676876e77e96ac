// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonCommandLine
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityAuths
@testable import TenonAuthorityITWallet
@testable import TenonAuthorityServer
@testable import TenonAuthoritySynheart

/// The documents match the program.
@Suite struct DocumentTests {
    private func read(_ name: String) throws -> String {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return try TextFile.read("\(root)/docs/\(name)")
    }

    private func api() throws -> JSON {
        try JSON(parsing: Array(read("openapi.json").utf8), maxBytes: 1 << 20, maxValues: 1 << 16)
    }

    @Test func eachEndpointIsDescribed() throws {
        let paths = try #require(try api()["paths"]?.object)
        let routes = try Routes.all()
        #expect(Set(paths.members.map(\.key)) == Set(routes.map(\.path)))
        for endpoint in routes {
            let methods = try #require(paths[endpoint.path]?.object)
            let named = Set(routes.filter { $0.path == endpoint.path }.compactMap { $0.method?.lowercased() })
            if endpoint.method != nil { #expect(Set(methods.members.map(\.key)) == named) }
            for (name, operation) in methods.members.map({ ($0.key, $0.value) }) {
                let tags = operation["tags"]?.array?.compactMap(\.string)
                let doors = routes.filter { $0.path == endpoint.path && ($0.method?.lowercased() ?? name) == name }
                    .flatMap(\.doors)
                #expect(tags?.count == 1 && doors.map { "\($0)" }.contains(tags?.first ?? ""), "\(endpoint.path)")
                let answers = operation["responses"]
                #expect((answers?["200"] ?? answers?["204"]) != nil && answers?["default"] != nil, "\(endpoint.path)")
            }
        }
    }

    @Test func eachCodeIsDescribed() throws {
        let code = try #require(try api()["components"]?["schemas"]?["Error"]?["properties"]?["error_code"])
        let codes = Refusal.Code.engine + Refusal.Code.synheart
        let named = try #require(code["enum"]?.array).compactMap(\.string)
        #expect(Set(named) == Set(codes.map(\.rawValue)) && named.count == codes.count)
        let text = try #require(code["description"]?.string)
        for code in codes { #expect(text.contains("\(code.rawValue) (\(code.status)): ")) }
    }

    @Test func eachWordOfITWalletIsDescribed() throws {
        let word = try #require(try api()["components"]?["schemas"]?["WalletError"]?["properties"]?["error"])
        let words = ITWalletSteps.ErrorWord.allCases.map(\.rawValue)
        #expect(Set(try #require(word["enum"]?.array).compactMap(\.string)) == Set(words))
        let text = try #require(word["description"]?.string)
        for word in words { #expect(text.contains("\(word) (")) }
    }

    @Test func eachCodeOfAuthsIsDescribed() throws {
        let code = try #require(try api()["components"]?["schemas"]?["AuthsError"]?["properties"]?["code"])
        let text = try #require(code["description"]?.string)
        for code in Refusal.Code.auths where code != .invalidInception {
            #expect(text.contains("\(code.rawValue) (\(code.status)): "))
        }
    }

    /// Each reference resolves, and each part is referenced.
    @Test func referencesAreWhole() throws {
        let api = try api()
        var named: Set<String> = []
        func walk(_ json: JSON) {
            if let name = json["$ref"]?.string { named.insert(name) }
            for member in json.object?.members ?? [] { walk(member.value) }
            for value in json.array ?? [] { walk(value) }
        }
        walk(api)
        var parts: Set<String> = []
        for kind in api["components"]?.object?.members ?? [] where kind.key != "securitySchemes" {
            for part in kind.value.object?.members ?? [] { parts.insert("#/components/\(kind.key)/\(part.key)") }
        }
        #expect(named == parts)
    }

    @Test func theManPage() async throws {
        let page = try await Program.run("--man").output
        #expect(try read("tenon-authority.8") == page)
        for verb in Verb.authority { #expect(page.contains(".SS \(verb.name)")) }
    }

    /// The operators' document has each member of the configuration and each limit.
    @Test func theConfiguration() throws {
        let paper = try read("authority.md")
        func check(_ path: String) throws {
            let folder = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
            let source = try TextFile.read("\(folder)/Sources/\(path).swift")
            var count = 0
            for part in source.split(separator: "section.").dropFirst() {
                let call = part.prefix { $0 != "," && $0 != ")" }
                guard let start = call.firstIndex(of: "("), call.last == "\"", !call.hasPrefix("mistake") else {
                    continue
                }
                let name = call[start...].dropFirst(2).dropLast()
                #expect(paper.contains("`\(name)`"), "\(path): \(name)")
                count += 1
            }
            #expect(count > 0, "\(path)")
        }
        for name in ["Configuration", "AppRecord", "EndorsementDenials", "Listener"] {
            try check("TenonAuthority/Configuration/\(name)")
        }
        for name in ["Auths/AuthsSettings", "Synheart/SynheartSettings", "ITWallet/ITWalletSettings"] {
            try check("TenonAuthorityServices/\(name)")
        }
        for verb in Verb.authority {
            #expect(paper.contains("`\(verb.name)") || paper.contains("tenon-authority \(verb.name)"), "\(verb.name)")
        }
    }
}
