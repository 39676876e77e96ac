// SPDX-License-Identifier: Apache-2.0

/// What a build with the trait `DevMode` does besides; no other build holds any of it (W20).
enum DevMode {
    #if DevMode
        static let isOn = true
        static let headers = [(name: "X-Synheart-Dev-Mode", value: "true")]
        static let noProof: String? = "none"
    #else
        static let isOn = false
        static let headers: [(name: String, value: String)] = []
        static let noProof: String? = nil
    #endif
}
