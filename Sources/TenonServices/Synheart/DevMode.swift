// SPDX-License-Identifier: Apache-2.0

/// What a build with the trait `DevMode` does besides; no other build holds any of it (W20).
package enum DevMode {
    #if DevMode
        static let isOn = true
        /// Of each request, the applications' too: a backend that takes it must know what it takes.
        package static let headers = [(name: "X-Synheart-Dev-Mode", value: "true")]
        static let noProof: String? = "none"
    #else
        static let isOn = false
        package static let headers: [(name: String, value: String)] = []
        static let noProof: String? = nil
    #endif
}
