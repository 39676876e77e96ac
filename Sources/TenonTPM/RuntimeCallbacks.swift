// SPDX-License-Identifier: Apache-2.0
internal import CTenonNative
internal import Glibc
package import Tenon

/// What a runtime is told by the native callbacks (docs/native-callbacks.md).
package enum RuntimeCallbacks {
    /// What lies in the folder, as the callbacks' own report. It changes nothing and contains no value and no key.
    ///
    /// It blocks for up to half a minute. All calls of a process name the same folder and TPM.
    package static func report(stateDirectory: String, tpm: String) throws(TenonError) -> JSON {
        guard configure(stateDirectory, tpm) else {
            throw TenonError(.options, message: "The path of the state folder or the name of the TPM cannot be used.")
        }
        guard let text = tenon_native_report() else {
            throw TenonError(.options, message: "The report could not be made in time; try again.")
        }
        defer { free(text) }
        let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
        return try JSON(parsing: [UInt8](bytes), maxBytes: bytes.count, maxValues: 65_536)
    }

    private static func configure(_ stateDirectory: String, _ tpm: String) -> Bool {
        stateDirectory.withCString { folder in
            tpm.withCString { name in
                var options = tenon_native_options()
                options.size = MemoryLayout<tenon_native_options>.size
                options.state_dir = folder
                options.tpm = name
                // The command names a simulator only when it was named.
                options.allow_simulator = 1
                return tenon_native_configure(&options) == 0
            }
        }
    }
}
