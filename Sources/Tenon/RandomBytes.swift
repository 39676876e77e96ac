// SPDX-License-Identifier: Apache-2.0

// Random bytes as the operating system gives them, for each need anew.

extension [UInt8] {
    package init(random count: Int) {
        var generator = SystemRandomNumberGenerator()
        self = (0..<count).map { _ in generator.next() }
    }
}

extension Secret {
    package convenience init(random count: Int) {
        self.init(count: count) { bytes in
            var generator = SystemRandomNumberGenerator()
            for index in bytes.indices { bytes[index] = generator.next() }
        }
    }
}
