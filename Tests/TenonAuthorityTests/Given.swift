// SPDX-License-Identifier: Apache-2.0
import TenonAuthority
import Testing

/// What a test may be given. `@Test(.stores)`, `@Test(.service)` and so on run it once on each kind of stores, with new
/// ones each time; it finds what it was given in `current`.
protocol Given: Sendable {
    static var given: TaskLocal<Self?> { get }

    static func on(_ kind: StoreKind, _ body: (Self) async throws -> Void) async throws
}

extension Given {
    static var current: Self {
        guard let value = given.get() else { preconditionFailure("the test has no trait that gives it \(Self.self)") }
        return value
    }
}

struct Giving<Value: Given>: TestTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for kind in StoreKind.allCases {
            let named = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("on the stores \(kind)")
                return issue
            }
            try await Value.on(kind) { value in
                try await Value.given.withValue(value) {
                    try await named.provideScope(for: test, testCase: testCase, performing: function)
                }
            }
        }
    }
}

extension Trait where Self == Giving<TestStores> { static var stores: Self { Giving() } }
extension Trait where Self == Giving<AuditedStoreTests.Audited> { static var audited: Self { Giving() } }
extension Trait where Self == Giving<ServiceRig> { static var service: Self { Giving() } }
extension Trait where Self == Giving<CoveredRig> { static var covered: Self { Giving() } }
extension Trait where Self == Giving<WalletRig> { static var wallet: Self { Giving() } }
extension Trait where Self == Giving<AuthsRig> { static var auths: Self { Giving() } }
