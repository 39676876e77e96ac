// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "Tenon",
    products: [
        .library(name: "Tenon", targets: ["Tenon"])
    ],
    traits: [
        .trait(name: "OpenSSL", description: "P-256 and SHA-256 come from libcrypto instead of mbedTLS.")
    ],
    targets: [
        .target(
            name: "CTenon",
            path: ".",
            exclude: ["Sources", "Tests"],
            sources: ["CSources/base", "CSources/crypto"],
            publicHeadersPath: "include",
            cSettings: [
                .headerSearchPath("CSources"),
                .define("TENON_OPENSSL", .when(traits: ["OpenSSL"])),
                .treatAllWarnings(as: .error),
            ],
            linkerSettings: [
                .linkedLibrary("mbedcrypto"),
                .linkedLibrary("crypto", .when(traits: ["OpenSSL"])),
            ]
        ),
        .target(name: "Tenon", dependencies: ["CTenon"], swiftSettings: strict + [.enableExperimentalFeature("SafeInteropWrappers")]),
        .testTarget(name: "TenonTests", dependencies: ["Tenon"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)
