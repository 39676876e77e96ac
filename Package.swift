// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

// Where the product is optimised, its tests are not: they are built sooner so.
let tests: [SwiftSetting] = [.unsafeFlags(["-Onone"], .when(configuration: .release))]

// For the folders that import C: a counted pointer is a span.
let interop = strict + [.enableExperimentalFeature("SafeInteropWrappers")]

let core: [CSetting] = [
    .headerSearchPath("CSources"),
    .define("TENON_OPENSSL", .when(traits: ["OpenSSL"])),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "Tenon",
    products: [
        .library(name: "Tenon", targets: ["Tenon"]),
        .library(name: "TenonTPM", targets: ["TenonTPM"]),
        .library(name: "TenonSynheart", targets: ["TenonSynheart"]),
        .library(name: "TenonITWallet", targets: ["TenonITWallet"]),
        .library(name: "SynheartAuth", targets: ["SynheartAuth"]),
        .library(name: "TenonAuths", targets: ["TenonAuths"]),
        .library(name: "AuthsMobile", targets: ["AuthsMobile"]),
        .library(
            name: "TenonAuthority",
            targets: [
                "TenonAuthority", "TenonAuthorityAuths", "TenonAuthorityITWallet", "TenonAuthoritySynheart",
            ]),
        .library(name: "TenonHTTP", targets: ["TenonHTTP"]),
        .executable(name: "tenon", targets: ["TenonCommand"]),
        .executable(name: "tenon-authority", targets: ["TenonAuthorityServer"]),
    ],
    traits: [
        .trait(name: "OpenSSL", description: "P-256 and SHA-256 come from libcrypto instead of mbedTLS."),
        .trait(name: "DevMode", description: "For development against a service on this machine, and nowhere else."),
    ],
    targets: [
        .target(
            name: "CTenon",
            path: ".",
            exclude: ["Bench", "Examples", "Sources", "Tests", "CSources/native", "CSources/ports", "CSources/tpm"],
            sources: ["CSources/base", "CSources/batch", "CSources/crypto", "CSources/keri", "CSources/proof"],
            publicHeadersPath: "include",
            cSettings: core,
            linkerSettings: [
                .linkedLibrary("mbedcrypto"),
                .linkedLibrary("crypto", .when(traits: ["OpenSSL"])),
            ]
        ),
        .target(
            name: "CTenonTPM",
            dependencies: ["CTenon"],
            path: ".",
            exclude: [
                "Bench", "Examples", "Sources", "Tests", "CSources/base", "CSources/batch", "CSources/crypto",
                "CSources/keri", "CSources/native", "CSources/ports", "CSources/proof",
            ],
            sources: ["CSources/tpm"],
            publicHeadersPath: "include/tenon/tpm",
            cSettings: core,
            linkerSettings: [.linkedLibrary("tss2-tctildr")]
        ),
        .target(
            name: "CTenonNative",
            dependencies: ["CTenon", "CTenonTPM"],
            path: ".",
            exclude: [
                "Bench", "Examples", "Sources", "Tests", "CSources/base", "CSources/crypto", "CSources/keri",
                "CSources/ports", "CSources/proof", "CSources/tpm",
            ],
            sources: ["CSources/native"],
            publicHeadersPath: "include/tenon/native",
            cSettings: core
        ),
        .target(
            name: "CTenonCurl",
            path: "CSources/ports/curl",
            publicHeadersPath: ".",
            cSettings: [.treatAllWarnings(as: .error)]
        ),
        .target(
            name: "CTenonProcess",
            path: "CSources/ports/process",
            publicHeadersPath: ".",
            cSettings: [.treatAllWarnings(as: .error)]
        ),
        .target(
            name: "CTenonHTTPD",
            path: "CSources/ports/httpd",
            publicHeadersPath: ".",
            cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("microhttpd")]
        ),
        .target(name: "Tenon", dependencies: ["CTenon"], swiftSettings: interop),
        .target(name: "TenonTPM", dependencies: ["Tenon", "CTenonNative", "CTenonTPM"], swiftSettings: interop),
        .systemLibrary(name: "CPostgres", path: "CSources/ports/postgres"),
        .systemLibrary(name: "CRedis", path: "CSources/ports/redis"),
        .systemLibrary(name: "CSQLite", path: "CSources/ports/sqlite"),
        .target(
            name: "TenonAuthority", dependencies: ["Tenon", "CPostgres", "CRedis", "CSQLite"], swiftSettings: strict),
        .target(
            name: "TenonAuthorityAuths",
            dependencies: ["Tenon", "TenonAuthority"],
            path: "Sources/TenonAuthorityServices/Auths",
            swiftSettings: strict
        ),
        .target(
            name: "TenonAuthorityITWallet",
            dependencies: ["Tenon", "TenonAuthority"],
            path: "Sources/TenonAuthorityServices/ITWallet",
            swiftSettings: strict
        ),
        .target(
            name: "TenonAuthoritySynheart",
            dependencies: ["Tenon", "TenonAuthority"],
            path: "Sources/TenonAuthorityServices/Synheart",
            swiftSettings: strict
        ),
        .target(name: "TenonHTTP", dependencies: ["Tenon", "CTenonCurl"], swiftSettings: strict),
        .target(
            name: "TenonBench", dependencies: ["Tenon", "TenonTPM"], resources: [.embedInCode("page.css")],
            swiftSettings: strict),
        .target(name: "TenonCommandLine", dependencies: ["Tenon", "CTenonProcess"], swiftSettings: strict),
        .executableTarget(
            name: "TenonAuthorityServer",
            dependencies: [
                "Tenon", "TenonAuthority", "TenonAuthorityAuths", "TenonAuthorityITWallet", "TenonAuthoritySynheart",
                "TenonCommandLine", "TenonHTTP", "TenonTPM", "CTenonHTTPD",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "TenonSynheart",
            dependencies: ["Tenon"],
            path: "Sources/TenonServices/Synheart",
            swiftSettings: strict
        ),
        .target(
            name: "TenonAuths",
            dependencies: ["Tenon"],
            path: "Sources/TenonServices/Auths",
            swiftSettings: strict
        ),
        .target(
            name: "AuthsMobile",
            dependencies: ["Tenon", "TenonAuths", "TenonTPM", "CTenonProcess"],
            swiftSettings: strict),
        .target(
            name: "TenonITWallet",
            dependencies: ["Tenon"],
            path: "Sources/TenonServices/ITWallet",
            swiftSettings: strict
        ),
        .target(
            name: "SynheartAuth",
            dependencies: ["Tenon", "TenonHTTP", "TenonSynheart", "TenonTPM", "CTenonProcess"],
            swiftSettings: strict),
        .executableTarget(
            name: "DeviceAgent", dependencies: ["Tenon", "TenonHTTP", "TenonSynheart", "TenonTPM"],
            path: "Examples/DeviceAgent", swiftSettings: strict),
        .executableTarget(
            name: "RequestVerifier", dependencies: ["Tenon"], path: "Examples/RequestVerifier", swiftSettings: strict),
        .target(
            name: "ToyService", dependencies: ["Tenon"], path: "Examples/ToyService/Device", swiftSettings: strict),
        .target(
            name: "ToyAuthority", dependencies: ["Tenon", "TenonAuthority"], path: "Examples/ToyService/Authority",
            swiftSettings: strict),
        .executableTarget(
            name: "TenonCommand",
            dependencies: [
                "Tenon", "TenonAuths", "TenonBench", "TenonCommandLine", "TenonHTTP", "TenonITWallet", "TenonSynheart",
                "TenonTPM",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "CTestSupport",
            dependencies: ["CTenonTPM"],
            path: "Tests/Support",
            exclude: ["selftest"]
        ),
        .target(
            name: "TestEvidence", dependencies: ["CTestSupport", "Tenon"], path: "Tests/TestEvidence",
            swiftSettings: strict),
        .target(name: "TestFolders", path: "Tests/TestFolders", swiftSettings: strict),
        .target(name: "FlowParts", dependencies: ["Tenon"], path: "Tests/FlowParts", swiftSettings: strict),
        .target(name: "BenchSide", dependencies: ["CTenon"], path: "Bench/swift/side", publicHeadersPath: "include"),
        .executableTarget(
            name: "SwiftBench",
            dependencies: ["BenchSide", "FlowParts", "Tenon", "TenonBench", "TenonSynheart", "TestFolders"],
            path: "Bench/swift",
            exclude: ["side"], swiftSettings: strict),
        .executableTarget(
            name: "StateChild", dependencies: ["FlowParts", "Tenon", "TenonAuths", "TenonITWallet"],
            path: "Tests/StateChild", swiftSettings: strict),
        .target(
            name: "CBenchIdentity",
            path: "Bench/service/identity",
            cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("crypto")]
        ),
        .executableTarget(
            name: "AuthorityBench",
            dependencies: [
                "CBenchIdentity", "CTestSupport", "Tenon", "TenonAuths", "TenonBench", "TenonHTTP", "TenonITWallet",
                "TenonSynheart", "TenonTPM", "TestEvidence", "TestFolders",
            ],
            path: "Bench/service/load",
            swiftSettings: interop
        ),
        .testTarget(
            name: "TenonTests",
            dependencies: [
                "FlowParts", "StateChild", "Tenon", "TenonAuths", "TenonBench", "TenonITWallet", "TestEvidence",
                "TestFolders",
            ],
            swiftSettings: strict + tests),
        .testTarget(
            name: "TenonAuthsTests", dependencies: ["FlowParts", "Tenon", "TenonAuths", "TestFolders"],
            swiftSettings: strict + tests),
        .testTarget(name: "TenonSynheartTests", dependencies: ["TenonSynheart"], swiftSettings: strict + tests),
        .testTarget(
            name: "TenonITWalletTests", dependencies: ["FlowParts", "Tenon", "TenonITWallet", "TestFolders"],
            swiftSettings: strict + tests),
        .testTarget(
            name: "SynheartAuthTests", dependencies: ["FlowParts", "SynheartAuth", "TenonSynheart", "TestFolders"],
            swiftSettings: strict + tests),
        .testTarget(
            name: "TenonAuthorityTests",
            dependencies: [
                "FlowParts", "Tenon", "TenonAuthority", "TenonAuthorityAuths", "TenonAuthorityITWallet",
                "TenonAuthoritySynheart", "TenonAuths", "TestEvidence", "TestFolders", "ToyAuthority", "ToyService",
            ],
            swiftSettings: strict + tests),
        .testTarget(
            name: "TenonTPMTests",
            dependencies: [
                "AuthorityBench", "AuthsMobile", "FlowParts", "SynheartAuth", "TenonAuthorityServer", "TenonAuthority",
                "TenonAuthoritySynheart", "TenonAuths", "TenonBench", "TenonHTTP", "TenonITWallet", "TenonSynheart",
                "TenonTPM", "CTestSupport", "TestFolders",
            ],
            swiftSettings: interop + tests
        ),
        .testTarget(
            name: "TenonCommandTests",
            dependencies: [
                "Tenon", "TenonCommand", "TenonCommandLine", "TenonHTTP", "TenonITWallet", "TenonSynheart", "TenonTPM",
                "TestFolders",
            ],
            swiftSettings: strict + tests),
        .testTarget(name: "TenonHTTPTests", dependencies: ["TenonHTTP", "TestFolders"], swiftSettings: strict + tests),
        .testTarget(
            name: "TenonAuthorityServerTests",
            dependencies: [
                "AuthorityBench", "FlowParts", "TenonAuthorityServer", "TenonAuthority", "TenonAuthorityAuths",
                "TenonAuthorityITWallet",
                "TenonAuthoritySynheart", "TenonCommandLine", "TenonHTTP", "Tenon", "TestFolders",
            ],
            swiftSettings: strict + tests
        ),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)
