// SPDX-License-Identifier: Apache-2.0

/// One contender on its way. A sample is the time of `batch` calls; a round is some samples, at least one.
package final class Tally {
    let contender: Contender
    var batch = 1
    var samplesOfRound = 1
    var samples: [Double] = []
    /// Their medians, in the order of the rounds, which all contenders share: nanoseconds an operation.
    package internal(set) var rounds: [Double] = []
    var processor = 0.0
    var operations = 0
    var commands = 0

    init(_ contender: Contender) { self.contender = contender }

    var commandsSoFar: Int { contender.commands?() ?? 0 }

    var operationsOfSample: Int { batch * contender.operations }
}
