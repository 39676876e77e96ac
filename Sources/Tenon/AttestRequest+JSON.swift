// SPDX-License-Identifier: Apache-2.0

extension AttestRequest {
    /// Bytes of a request's body: larger ones are not read.
    public static let maxBytes = 32_768

    static let maxText = 128
    /// For what is read here and judged elsewhere or not at all: keys and statements of TPMs.
    static let structureSizes = 1...1_024

    /// go-attestation counts the versions of TPMs: 2 is TPM 2.0.
    private static let tpm2: Int64 = 2

    /// Reads a request.
    ///
    /// - Throws: a `json...` or `base64...` code, or ``TenonError/Code/messageMember``, whose message names the member.
    public init(parsing body: [UInt8]) throws(TenonError) {
        let message = try MessageObject(parsing: body, maxBytes: AttestRequest.maxBytes)
        guard let parameters = try message.object("params") else { throw message.missing("params") }
        guard let ak = try parameters.bytes("public", sizes: AttestRequest.structureSizes) else {
            throw parameters.missing("public")
        }
        guard try parameters.bool("useTCSDActivationFormat") != true else {
            throw parameters.refusal("useTCSDActivationFormat", "is for TPM 1.2")
        }
        self.init(
            ekCertificates: try message.certificates("ekCerts") ?? [], ak: ak,
            ek: try message.bytes("ek", sizes: AttestRequest.structureSizes),
            tpm: try AttestRequest.readTPM(try message.object("tpmInfo")),
            akCertificate: try message.bytes("akCert", sizes: MessageObject.certificateSizes),
            creation: try AttestRequest.readCreation(parameters))
    }

    private static func readTPM(_ info: MessageObject?) throws(TenonError) -> TPMDescription {
        guard let info else { return TPMDescription() }
        guard try info.integer("version") ?? tpm2 == tpm2 else {
            throw info.refusal("version", "is not that of TPM 2.0")
        }
        var tpm = TPMDescription()
        if let text = try info.text("manufacturer", maxBytes: maxText) {
            // Not UInt32(text) alone, which takes a sign.
            guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let manufacturer = UInt32(text) else {
                throw info.refusal("manufacturer", "is no decimal number of 32 bits")
            }
            tpm.manufacturer = manufacturer
        }
        tpm.model = try info.text("model", maxBytes: maxText)
        tpm.firmwareVersion = try info.text("firmwareVersion", maxBytes: maxText)
        return tpm
    }

    private static func readCreation(_ parameters: MessageObject) throws(TenonError) -> Creation? {
        let data = try parameters.bytes("createData", sizes: structureSizes)
        let attestation = try parameters.bytes("createAttestation", sizes: structureSizes)
        let signature = try parameters.bytes("createSignature", sizes: structureSizes)
        switch (data, attestation, signature) {
        case (nil, nil, nil): return nil
        case (let data?, let attestation?, let signature?):
            return Creation(data: data, attestation: attestation, signature: signature)
        case (nil, _, _): throw parameters.missing("createData")
        case (_, nil, _): throw parameters.missing("createAttestation")
        default: throw parameters.missing("createSignature")
        }
    }

    /// The body.
    public func encoded() throws(TenonError) -> [UInt8] {
        var message = JSONObject()
        message["tpmInfo"] = tpmInfo
        message["ek"] = ek.map(JSON.init(base64:))
        message["ekCerts"] = JSON(base64: ekCertificates)
        message["akCert"] = akCertificate.map(JSON.init(base64:))
        message["params"] = parameters
        return try JSON.object(message).encoded()
    }

    private var tpmInfo: JSON {
        var info = JSONObject()
        info["version"] = .integer(AttestRequest.tpm2)
        info["manufacturer"] = tpm.manufacturer.map { .string(String($0)) }
        info["model"] = tpm.model.map(JSON.string)
        info["firmwareVersion"] = tpm.firmwareVersion.map(JSON.string)
        return .object(info)
    }

    private var parameters: JSON {
        var parameters = JSONObject()
        parameters["public"] = JSON(base64: ak)
        parameters["createData"] = (creation?.data).map(JSON.init(base64:))
        parameters["createAttestation"] = (creation?.attestation).map(JSON.init(base64:))
        parameters["createSignature"] = (creation?.signature).map(JSON.init(base64:))
        return .object(parameters)
    }
}
