// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// The version of the library, as in "0.1.0".
package let tenonVersion = String(cString: tenon_version_text())
