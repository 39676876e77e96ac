// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension EndorsementRoots {
    /// Reads the certificates of a PEM file, or of a folder's files that end with `.pem` or `.crt`. It blocks.
    ///
    /// - Throws: ``TenonError/Code/configuration``, whose message names the file, or the folder that has none (security.md
    ///   F3).
    package init(reading path: String, requiresUsage: Bool) throws(TenonError) {
        var certificates: [[UInt8]] = []
        for file in PEMFile.all(at: path, suffixes: [".pem", ".crt"]) {
            certificates += try file.blocks("CERTIFICATE", member: "ek_roots")
        }
        guard !certificates.isEmpty else {
            throw TenonError(.configuration, message: "\(path) has no file that ends with .pem or .crt: give it roots.")
        }
        self.init(certificates: certificates, requiresUsage: requiresUsage)
    }
}
