// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// Where connections come in.
package enum Listener: Equatable, Sendable {
    package struct TLS: Equatable, Sendable {
        /// Paths of PEM files.
        package var certificate: String
        package var key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    case tcp(address: String, port: Int, tls: TLS?)
    case unix(path: String)

    /// Whether only this machine can connect.
    package var isLocal: Bool {
        switch self {
        case .tcp(let address, _, _): Address.isLoopback(address)
        case .unix: true
        }
    }

    /// Of metrics: nothing asks who reads them, so that it is an address of this machine.
    init(metrics section: inout ConfigurationSection) throws(TenonError) {
        self = try Listener(&section)
        guard case .tcp(_, _, .none) = self, isLocal else {
            throw section.mistake("has to be \"address\", of loopback, and \"port\"")
        }
    }

    /// Whether TLS ends here, and not at somebody in front.
    var hasTLS: Bool {
        if case .tcp(_, _, .some) = self { true } else { false }
    }

    /// - Parameters:
    ///   - hasProxy: whether TLS ends at a proxy; nil where it may not.
    ///   - given: in the place of what the section says.
    init(
        _ section: inout ConfigurationSection, hasProxy: Bool? = nil, tls given: TLS? = nil
    ) throws(TenonError) {
        let path = try section.optional("unix", "the path of a socket", ConfigurationForm.path)
        let address = try section.optional("address", "an IP address", ConfigurationForm.address)
        let port = try section.optionalInteger("port", 0...65_535)
        let certificate = try section.optional("certificate", "the path of a PEM file", ConfigurationForm.path)
        let key = try section.optional("key", "the path of a PEM file", ConfigurationForm.path)
        if let path {
            guard address == nil, port == nil, certificate == nil, key == nil, given == nil else {
                throw section.mistake("is either \"unix\" or \"address\" and \"port\", which TLS is for")
            }
            self = .unix(path: path)
            return
        }
        guard let address, let port else { throw section.mistake("needs \"unix\", or \"address\" and \"port\"") }
        guard (certificate == nil) == (key == nil) else {
            throw section.mistake("needs both \"certificate\" and \"key\", or neither")
        }
        var tls = given
        if given == nil, let certificate, let key { tls = TLS(certificate: certificate, key: key) }
        self = .tcp(address: address, port: port, tls: tls)
        guard tls != nil || isLocal || hasProxy == true else {
            throw section.mistake(
                "needs \"certificate\" and \"key\" on an address that is not loopback"
                    + (hasProxy != nil ? ", or \"behind_proxy\": true" : ""))
        }
    }
}
