// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The signature versions that a device names in `sig_versions`.
struct NamedVersions {
    /// Those that this authority knows, in their order; nil if none were named.
    let versions: [Int]?

    /// A list may have more than are known here, from a device that is newer.
    private static let maxCount = 8

    init(_ message: MessageObject) throws(TenonError) {
        let named = try message.integers("sig_versions", maxCount: NamedVersions.maxCount)
        versions = named.map { named in RequestSigning.versions.filter { named.contains(Int64($0)) } }
    }

    /// The same, if a device with them could sign a request for the app.
    func checked(for settings: SynheartSettings) throws(Refusal) -> [Int]? {
        guard let versions else { return nil }
        guard versions.contains(where: settings.signatureVersions.contains) else {
            throw Refusal(.invalidRequest, "The app takes none of these signature versions.", cause: "sig_versions")
        }
        return versions
    }
}

extension SynheartSteps {
    /// Tells a device how it may sign (docs/signing.md): the versions are those that it registered and the app takes.
    /// Version 2 is for the hosts of the app's backends, because a backend without hosts refuses it.
    func announcement(to device: Device, _ settings: SynheartSettings) -> JSON {
        let versions = device.signatureVersions.filter(settings.signatureVersions.contains)
        let backends = engine.configuration.backends.filter { $0.apps.contains(device.app) }
        let hosts = Set(backends.flatMap(\.hosts)).sorted()
        return [
            "versions": .array(versions.map { .integer(Int64($0)) }),
            "forms": .array(settings.forms.map { .string($0.rawValue) }),
            "batch_max": .integer(Int64(RequestSigning.largestBatch)), "hosts": .array(hosts.map(JSON.string)),
        ]
    }
}
