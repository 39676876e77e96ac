// SPDX-License-Identifier: Apache-2.0

/// Who does a line of a bench.
package struct Contender {
    package let name: String
    /// That one call is.
    package let operations: Int
    /// TPM commands so far; nil where there is no TPM.
    package let commands: (() -> Int)?
    package let operation: Rounds.Operation

    package init(
        _ name: String, operations: Int = 1, commands: (() -> Int)? = nil, _ operation: @escaping Rounds.Operation
    ) {
        self.name = name
        self.operations = operations
        self.commands = commands
        self.operation = operation
    }
}
