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

/// What the core writes, at most so many bytes.
package func bytes(
    capacity: Int, _ write: (UnsafeMutableBufferPointer<UInt8>, inout Int) -> Int32
) throws(TenonError) -> [UInt8] {
    var status: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, written in
        status = write(buffer, &written)
        if status != 0 { written = 0 }
    }
    try TenonError.check(status)
    return bytes
}
