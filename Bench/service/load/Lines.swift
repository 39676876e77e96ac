// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonBench

/// A worker's connections: one to its own instance and, once they are asked for, those to the others.
final class Lines {
    private let instances: [Instance]
    private let own: Connection
    private var other: Connection?
    private(set) var samples = Samples()

    /// - Parameter instances: the worker's own first.
    init(_ instances: [Instance]) throws(TenonError) {
        self.instances = instances
        own = try Connection(instances[0])
    }

    /// Sends a request and waits; what is done between two of them is not measured.
    func exchange(_ request: [UInt8]) throws(TenonError) -> Connection.Answer {
        let began = BenchClock.wall.now
        let answer = try own.exchange(request)
        samples.add(BenchClock.wall.now - began, answer)
        return answer
    }

    /// Sends one to each of two instances, and waits for neither before both are on their way.
    func both(_ first: [UInt8], _ second: [UInt8]) throws(TenonError) -> [Connection.Answer] {
        let other = try self.second()
        let began = BenchClock.wall.now
        try own.send(first)
        try other.send(second)
        let answers = [try own.receive(), try other.receive()]
        for answer in answers { samples.add(BenchClock.wall.now - began, answer) }
        return answers
    }

    private func second() throws(TenonError) -> Connection {
        if let other { return other }
        let made = try Connection(instances[instances.count - 1])
        other = made
        return made
    }
}
