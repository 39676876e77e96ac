// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine
internal import TenonHTTP
internal import TenonSynheart
internal import TenonTPM

/// What the flags and the environment come to.
struct Setting {
    let arguments: Arguments

    /// Where the state lies; nothing is made there.
    func folderPath() throws(TenonError) -> String {
        try StateFolder.path(
            asked: arguments.value(Flag.stateDirectory.name), isRoot: geteuid() == 0, environment: Environment.variable)
    }

    /// nil when there is none, and so no identity either.
    func folder() throws(TenonError) -> StateFolder? {
        let path = try folderPath()
        return StateFolder.isThere(at: path) ? try StateFolder(at: path) : nil
    }

    /// The identities that the flags do not leave out.
    func identities() throws(TenonError) -> [KnownIdentity] {
        let (service, app) = (try arguments.value(Flag.service.name), try arguments.value(Flag.app.name))
        guard let all = try folder()?.identities() else { return [] }
        let wanted = try service.map { text throws(TenonError) in try Synheart(baseURL: text, appID: "x").baseURL }
        return all.filter { known in
            guard let name = known.name else { return wanted == nil && app == nil }
            return (wanted ?? name.baseURL) == name.baseURL && (app ?? name.appID) == name.appID
        }
    }

    /// The TPM's name.
    func tpmName() throws(TenonError) -> String {
        OpenedTPM.remember(name: try arguments.value(Flag.tpm.name) ?? "device:/dev/tpmrm0")
    }

    func tpm() throws(TenonError) -> TPM {
        OpenedTPM.remember(try TPM(tpmName(), options: tpmOptions()))
    }

    func tpmOptions() throws(TenonError) -> TPM.Options {
        var options = TPM.Options()
        // Who names a simulator means it.
        options.allowSimulator = true
        options.ownerAuth = try auth(Flag.ownerAuth)
        options.endorsementAuth = try auth(Flag.endorsementAuth)
        return options
    }

    /// What a file holds, less the line feed at its end.
    private func auth(_ flag: Flag) throws(TenonError) -> [UInt8] {
        guard let path = try arguments.value(flag.name) else { return [] }
        let bytes = try SmallFile.read(path)
        return bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes
    }

    func disclosure() throws(TenonError) -> TPM.Disclosure {
        let chain = try arguments.value(Flag.above.name)
        let whole = try arguments.value(Flag.certificate.name)
        guard arguments.has(Flag.disclosed.name) else {
            if chain ?? whole != nil {
                throw arguments.mistake("--ek-chain and --ek-certificate are for --disclose-ek.")
            }
            return .nothing
        }
        if let whole {
            if chain != nil { throw arguments.mistake("--ek-certificate says all of the chain, without --ek-chain.") }
            return .certificates(try SmallFile.certificates(whole))
        }
        return .endorsement(above: try chain.map(SmallFile.certificates) ?? [])
    }

    func attestationService() throws(TenonError) -> DeviceIdentity.AttestationService? {
        guard let url = try arguments.value(Flag.attestationCA.name) else { return nil }
        guard let roots = try arguments.value(Flag.attestationRoots.name) else {
            throw arguments.mistake("--attestation-ca needs --attestation-roots FILE.")
        }
        return .init(url: url, roots: try SmallFile.certificates(roots))
    }

    /// How long is waited for a service and for others, where the flags say so.
    func limits() throws(TenonError) -> FlowLimits {
        var limits = FlowLimits()
        guard let text = try arguments.value(Flag.timeout.name) else { return limits }
        guard let seconds = Int(text), 1...86_400 ~= seconds else {
            throw arguments.mistake("--timeout is a number of seconds, from 1 to 86400.")
        }
        limits.call = .seconds(seconds)
        limits.lock = min(limits.lock, limits.call)
        return limits
    }

    func transport() throws(TenonError) -> LateTransport {
        LateTransport(HTTPTransport.Options(caFile: try arguments.value(Flag.caFile.name)))
    }
}

/// Small files that the user names.
enum SmallFile {
    /// - Throws: ``TenonError/Code/options`` when it cannot be read.
    static func read(_ path: String, atMost limit: Int = 1 << 20) throws(TenonError) -> [UInt8] {
        var source = try ByteSource(path: path)
        var bytes: [UInt8] = []
        while let chunk = try source.next() {
            bytes += chunk
            guard bytes.count <= limit else { throw ByteSource.unreadable(path, "it is longer than \(limit) bytes") }
        }
        return bytes
    }

    static func certificates(_ path: String) throws(TenonError) -> [[UInt8]] {
        let chain = try CertificateFile.decode(read(path))
        guard !chain.isEmpty else { throw ByteSource.unreadable(path, "it holds no certificate in PEM") }
        return chain
    }
}
