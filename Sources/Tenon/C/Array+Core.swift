// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// What the core writes for a value that was checked when it was made. The core cannot refuse such a value; were it to,
/// the array would be empty, which is no form of anything.
func array(
    capacity: Int, _ write: (UnsafeMutableBufferPointer<UInt8>, inout Int) -> tenon_status
) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: capacity) { buffer, written in
        if write(buffer, &written) != 0 { written = 0 }
    }
}
