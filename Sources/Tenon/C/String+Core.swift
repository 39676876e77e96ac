// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Lends the text as the core takes texts: a pointer and a length, no NUL.
    @inline(__always)
    func withCoreText<Result>(_ body: (UnsafePointer<CChar>?, Int) -> Result) -> Result {
        utf8.span.withUnsafeBytes { body($0.bindMemory(to: CChar.self).baseAddress, $0.count) }
    }
}
