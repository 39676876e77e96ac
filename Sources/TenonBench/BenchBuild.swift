// SPDX-License-Identifier: Apache-2.0

/// How this was built.
package enum BenchBuild {
    /// An assertion is looked at in a debug build only.
    package static var isDebug: Bool {
        var isDebug = false
        assert(
            {
                isDebug = true
                return true
            }())
        return isDebug
    }
}
