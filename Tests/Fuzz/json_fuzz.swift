// SPDX-License-Identifier: Apache-2.0

// libFuzzer over the JSON reader and writer: whatever is read is written, read again to an equal value, and written
// again to the same bytes. From the root of the repository:
//
//   swiftc -O -use-ld=lld -sanitize=fuzzer,address -parse-as-library -package-name tenon -module-name JSONFuzz \
//       Sources/Tenon/JSON/JSON*.swift Sources/Tenon/TenonError.swift Tests/Fuzz/json_fuzz.swift -o .build/json_fuzz
//   SWIFT_BACKTRACE=enable=no .build/json_fuzz -max_total_time=10 NEW_CORPUS Tests/Fuzz/corpus/json

// A Double may be written longer than it was read ("1e15"), so the second reading has wider caps.
private let wide = 1 << 24

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let value = try? JSON(parsing: input) else { return 0 }
    guard let written = try? value.encoded(),
        let again = try? JSON(parsing: written, maxBytes: wide, maxValues: wide),
        again == value, (try? again.encoded()) == written
    else { preconditionFailure("what was read does not come back") }
    return 0
}
