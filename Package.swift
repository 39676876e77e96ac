// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

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
        .library(name: "SynheartAuth", targets: ["SynheartAuth"]),
    ],
    traits: [
        .trait(name: "OpenSSL", description: "P-256 and SHA-256 come from libcrypto instead of mbedTLS."),
        .trait(name: "DevMode", description: "For development against a service on this machine, and nowhere else."),
    ],
    targets: [
        .target(
            name: "CTenon",
            path: ".",
            exclude: ["Bench", "Sources", "Tests", "CSources/tpm"],
            sources: ["CSources/base", "CSources/crypto", "CSources/proof"],
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
            exclude: ["Bench", "Sources", "Tests", "CSources/base", "CSources/crypto", "CSources/proof"],
            sources: ["CSources/tpm"],
            publicHeadersPath: "include/tenon/tpm",
            cSettings: core,
            linkerSettings: [.linkedLibrary("tss2-tctildr")]
        ),
        .target(name: "Tenon", dependencies: ["CTenon"], swiftSettings: interop),
        .target(name: "TenonTPM", dependencies: ["Tenon", "CTenonTPM"], swiftSettings: interop),
        .target(
            name: "TenonSynheart",
            dependencies: ["Tenon"],
            path: "Sources/TenonServices/Synheart",
            swiftSettings: strict
        ),
        .target(name: "SynheartAuth", dependencies: ["Tenon", "TenonSynheart"], swiftSettings: strict),
        .target(
            name: "CTestSupport",
            dependencies: ["CTenonTPM"],
            path: "Tests/Support",
            exclude: ["selftest"]
        ),
        .executableTarget(
            name: "StateChild", dependencies: ["Tenon"], path: "Tests/StateChild", swiftSettings: strict),
        .testTarget(name: "TenonTests", dependencies: ["Tenon", "StateChild"], swiftSettings: strict),
        .testTarget(name: "TenonSynheartTests", dependencies: ["TenonSynheart"], swiftSettings: strict),
        .testTarget(name: "SynheartAuthTests", dependencies: ["SynheartAuth", "TenonSynheart"], swiftSettings: strict),
        .testTarget(name: "TenonTPMTests", dependencies: ["TenonTPM", "CTestSupport"], swiftSettings: interop),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)
