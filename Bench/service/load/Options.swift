// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The words of the command line.
struct Options: Sendable {
    var instances: [Instance] = []
    var origin: String?
    var app = "demo"
    var devices = 200
    var connections = 50
    var requests = 20_000
    var path = "/auth/v1/echo"
    /// Where the root of the EKs goes; nil for devices without TPMs.
    var ekRoot: String?
    /// A file with the number of the process whose time is measured, for the figure.
    var process: String?
    var rounds = 25
    /// Once each: nothing is measured.
    var isSmoke = false
    var help = false

    static let text = """
        usage: AuthorityBench --instances URL[,URL...] [OPTIONS]

        Devices with keys in memory register at authorities of this machine, sign requests, and rotate. A line of JSON
        tells of each phase.

          --instances URL,...   http://ADDRESS:PORT, between which the load is shared
          --origin ORIGIN       that of their configuration (else the first URL)
          --app ID              (demo)
          --devices N           (200)
          --requests N          signed requests in all (20000)
          --connections N       at a time (50)
          --path PATH           that takes signed requests (/auth/v1/echo)
          --ek-root FILE        register with TPMs in memory: their root is written to FILE, which the authorities have
                                to trust; they may be started then, and are waited for
          --figure FILE         instead, measure figure P10 on the authority whose process id is in FILE
          --rounds N            of it (25)
          --smoke               of it each once, nothing is measured

        """

    /// - Throws: ``TenonError/Code/options``.
    init(_ words: some Sequence<String>) throws(TenonError) {
        var words = Array(words)[...]
        while let name = words.popFirst() {
            if name == "--help" {
                help = true
                return
            }
            if name == "--smoke" {
                isSmoke = true
                (devices, connections, requests, rounds) = (2, 2, 2, 1)
                continue
            }
            guard let value = words.popFirst() else { throw Options.mistake("\(name) needs a value.") }
            try take(name, value)
        }
        if instances.isEmpty { throw Options.mistake("--instances is missing; see --help.") }
    }

    private mutating func take(_ name: String, _ value: String) throws(TenonError) {
        switch name {
        case "--instances":
            for url in value.split(separator: ",") { instances.append(try Instance(String(url))) }
        case "--origin": origin = value
        case "--app": app = value
        case "--path": path = value
        case "--ek-root": ekRoot = value
        case "--devices": devices = try Options.number(name, value)
        case "--connections": connections = try Options.number(name, value)
        case "--requests": requests = try Options.number(name, value)
        case "--rounds": rounds = try Options.number(name, value)
        case "--figure": process = value
        default: throw Options.mistake("\(name) is no option; see --help.")
        }
    }

    private static func number(_ name: String, _ value: String) throws(TenonError) -> Int {
        guard let number = Int(value), 1...1_000_000 ~= number else { throw mistake("\(name) is 1 to 1000000.") }
        return number
    }

    static func mistake(_ message: String) -> TenonError { TenonError(.options, message: message) }
}
