// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// Tells of a store's fault when it begins, in the store's own words, and when it is over.
final class StoreFaults: Sendable {
    private struct State {
        var words: String?
        var begin = ContinuousClock.now
        var told = ContinuousClock.now - .seconds(3600)
    }

    private let store: String
    private let told: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// Of a fault whose words change.
    private static let pause = Duration.seconds(1)

    init(_ store: String, told: @escaping @Sendable (String) -> Void) {
        self.store = store
        self.told = told
    }

    /// What a call threw; it may be its caller's mistake, and no fault.
    func met(_ error: TenonError) {
        let isFault = [.storeFailed, .storeBusy, .storePermission, .storeFull, .outcomeUnknown].contains(error.code)
        guard isFault else { return }
        let isNews = state.withLock { state in
            let now = ContinuousClock.now
            guard state.words != error.message else { return false }
            if state.words == nil { state.begin = now }
            // One that began is told of at once, unless it comes and goes.
            guard now - state.told >= StoreFaults.pause else { return false }
            state.words = error.message
            state.told = now
            return true
        }
        if isNews { told("\(store) has a fault: \(error.message)") }
    }

    /// The store was looked at, and works.
    func ended() {
        let begin: ContinuousClock.Instant? = state.withLock { state in
            guard state.words != nil else { return nil }
            state.words = nil
            return state.begin
        }
        if let begin { told("\(store) works again, after \((ContinuousClock.now - begin).milliseconds) ms.") }
    }
}
