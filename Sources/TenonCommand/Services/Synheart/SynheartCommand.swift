// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine
internal import TenonSynheart

extension CommandService {
    /// Synheart's auth service.
    static let synheart = CommandService(
        profile: "synheart", dialects: Dialect.all.map(\.name),
        registerDetails: """
            If the device is already registered, it asks the service which key it holds (dialect tenon) and prints the
            answer; the dialect docs cannot ask.
            """,
        signFlags: [.strippedIngest],
        mends: [
            .attestationUnavailable:
                "Use --dialect tenon, or give an attestation CA: --attestation-ca URL --attestation-roots FILE",
            .challengeForm: "Check --service; if it is right, the service's operator must fix its challenges.",
            .serviceAnswer: "Check --service: it must end where the service is mounted, as in https://host/auth",
        ],
        normalURL: { url throws(TenonError) in try Synheart(baseURL: url, appID: "x").baseURL },
        makeProfile: { url, app, dialect throws(TenonError) in
            try Synheart(baseURL: url, appID: app, dialect: Dialect.named(dialect) ?? .docs)
        },
        signedPath: { url, arguments throws(TenonError) in
            try SigningPath.of(url, strippingIngest: arguments.has(Flag.strippedIngest.name))
        })
}

extension Flag {
    fileprivate static let strippedIngest = Flag(
        name: "--strip-ingest", value: nil, summary: "the service is mounted below /ingest")
}
