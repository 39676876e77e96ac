// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import Tenon

extension TenonError {
    init(status: tenon_status) {
        self.init(Code(rawValue: status), message: String(cString: tenon_status_text(status)))
    }

    /// Throws what is not success.
    static func check(_ status: tenon_status) throws(TenonError) {
        guard status == 0 else { throw TenonError(status: status) }
    }
}
