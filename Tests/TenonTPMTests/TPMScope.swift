// SPDX-License-Identifier: Apache-2.0
import TenonTPM
import Testing

/// What a test has by `@Test(.tpm)` and the like: a TPM of its own, in which nothing may be left.
struct OpenTPM: Sendable {
    let software: SoftwareTPM
    let tpm: TPM

    @TaskLocal static var given: OpenTPM?

    static var current: OpenTPM {
        guard let given else { preconditionFailure("the test has no trait that opens a TPM") }
        return given
    }
}

struct TPMScope: TestTrait, TestScoping {
    let state: String?
    /// The test calls blocking functions alone, so that the TPM is closed when it ends.
    let isBlocking: Bool

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let software = try SoftwareTPM(state: state)
        try await OpenTPM.$given.withValue(OpenTPM(software: software, tpm: software.tpm()), operation: function)
        if isBlocking { #expect(!software.isOpen) }
        await software.waitUntilClosed()
        #expect(software.leftovers == 0)
    }
}

extension Trait where Self == TPMScope {
    static var tpm: Self { TPMScope(state: nil, isBlocking: false) }
    static var blockingTPM: Self { TPMScope(state: nil, isBlocking: true) }
    static var endorsedTPM: Self { TPMScope(state: Endorsed.state, isBlocking: false) }
}

/// What a test has by `@Test(.world)`: a world whose authority is on SQLite.
struct WorldScope: TestTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await ServedWorld.with(.sqlite) { world in
            try await ServedWorld.$given.withValue(world, operation: function)
        }
    }
}

extension ServedWorld {
    @TaskLocal static var given: ServedWorld?

    static var current: ServedWorld {
        guard let given else { preconditionFailure("the test has no trait that makes a world") }
        return given
    }
}

extension Trait where Self == WorldScope { static var world: Self { WorldScope() } }
