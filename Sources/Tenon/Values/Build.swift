// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// The version of the library, as in "0.1.0".
package let tenonVersion = String(cString: tenon_version_text())

/// Whose P-256 and SHA-256 it was built with.
package let tenonBackend = String(cString: tenon_backend_name())

/// How this was built.
package enum Build {
    #if DevMode
        package static let isDev = true
    #else
        package static let isDev = false
    #endif
}
