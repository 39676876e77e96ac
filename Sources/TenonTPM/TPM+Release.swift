// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension TPM {
    /// Where it and its keys are let go of when nobody has them any more. A program that ends waits for that: what a
    /// process leaves in a TPM that has no resource manager stays there.
    package var releasing: WorkThread { thread }
}
