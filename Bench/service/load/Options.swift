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
    /// The time of an authority is measured, whose process comes on the standard input.
    var isFigure = false
    /// What devices do whose cost is counted from outside.
    var counted: CertifiedDevice.Deed?
    /// The state of a software TPM, and the authority's CA, for a device's life.
    var flows: String?
    var root = ""
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
          --figure              instead, measure figure P10 on the authority whose process id comes on the standard input
          --rounds N            of it (25)
          --count DEED          instead, each device has its AK certified, and then, unless DEED is certify, does it:
                                register or initialize; nothing is measured
          --flows TPM_STATE     instead, measure figure P12 with a software TPM, at an authority whose CA is that of --root
          --root FILE           PEM
          --smoke               of a figure each once, nothing is measured

        """

    /// - Throws: ``TenonError/Code/options``.
    init(_ words: some Sequence<String>) throws(TenonError) {
        var words = Array(words)[...]
        while let name = words.popFirst() {
            switch name {
            case "--help":
                help = true
                return
            case "--figure": isFigure = true
            case "--smoke":
                isSmoke = true
                (devices, connections, requests, rounds) = (2, 2, 2, 1)
            default: try take(name, words.popFirst())
            }
        }
        if instances.isEmpty { throw Options.mistake("--instances is missing; see --help.") }
    }

    private mutating func take(_ name: String, _ value: String?) throws(TenonError) {
        guard let value else { throw Options.mistake("\(name) is no option, or needs a value; see --help.") }
        let number = Int(value).flatMap { 1...1_000_000 ~= $0 ? $0 : nil }
        switch (name, number) {
        case ("--instances", _):
            for url in value.split(separator: ",") { instances.append(try Instance(String(url))) }
        case ("--origin", _): origin = value
        case ("--app", _): app = value
        case ("--path", _): path = value
        case ("--ek-root", _): ekRoot = value
        case ("--flows", _): flows = value
        case ("--root", _): root = value
        case ("--count", _) where CertifiedDevice.Deed(rawValue: value) != nil:
            counted = CertifiedDevice.Deed(rawValue: value)
        case ("--devices", let number?): devices = number
        case ("--connections", let number?): connections = number
        case ("--requests", let number?): requests = number
        case ("--rounds", let number?): rounds = number
        default: throw Options.mistake("\(name) \(value) is no option, or is not 1 to 1000000; see --help.")
        }
    }

    static func mistake(_ message: String) -> TenonError { TenonError(.options, message: message) }
}
