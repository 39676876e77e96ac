// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

extension ITWalletSteps {
    /// Answers whoever knows the tag, which only the device and this service do (decision: tag-is-id).
    func ownState() async throws(Refusal) -> AuthorityAnswer { try AuthorityAnswer(json: try await device().entry) }

    // MARK: For backends that hold the user's session

    func state() async throws(Refusal) -> AuthorityAnswer {
        _ = try backend
        let device = try await device()
        try await checkAccount(of: device)
        return try AuthorityAnswer(json: device.entry)
    }

    /// The instances of the account that the query names.
    func list() async throws(Refusal) -> AuthorityAnswer {
        _ = try backend
        guard let account = try account else { throw Refusal(.invalidRequest, "The query needs an account.") }
        let ids = try await waiting { [id = app.id] () throws(TenonError) in
            try await engine.stores.devices.look { connection throws(TenonError) in
                try Instances.all(of: account, app: id, in: connection)
            }
        }
        var states: [JSON] = []
        for id in ids { states.append(try await device(id).entry) }
        return try AuthorityAnswer(json: .array(states))
    }

    /// Takes exactly `{"status":"REVOKED"}`. To revoke a second time changes nothing.
    func revoke() async throws(Refusal) -> AuthorityAnswer {
        let backend = try backend
        let message = try message("status")
        let status = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try message.text("status", maxBytes: 16)
        }
        guard status == "REVOKED" else { throw Refusal(.invalidRequest, "The status can only become REVOKED.") }
        let device = try await device()
        try await checkAccount(of: device)
        let now = engine.clock.now()
        _ = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.revoke(
                .device(app: device.app, id: device.id, compromised: false), reason: "backend \(backend.name)", at: now)
        }
        return .done
    }

    /// Takes `{"account": TEXT}`: from now on, only that account's requests reach the instance.
    func link() async throws(Refusal) -> AuthorityAnswer {
        _ = try backend
        let message = try message("account")
        let account = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            guard let account = try message.text("account", maxBytes: Self.maxAccount), !account.isEmpty else {
                throw message.missing("account")
            }
            return account
        }
        let id = try await device().id
        let isLinked = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.step { connection throws(TenonError) in
                try Instances.link(id, to: account, in: connection)
            }
        }
        guard isLinked else { throw .otherAccount }
        return .done
    }

    // MARK: What the steps share

    private static let maxAccount = 200

    /// The backend that asks, which may ask about this app.
    private var backend: BackendRecord {
        get throws(Refusal) {
            let backend = try engine.backend(of: request)
            guard backend.apps.contains(app.id) else {
                throw Refusal(.notAllowed, "The backend is not allowed to ask about this app.")
            }
            return backend
        }
    }

    /// The account in the query: `account=TEXT` and nothing else, or no query.
    private var account: String? {
        get throws(Refusal) {
            guard let query = request.query else { return nil }
            guard query.hasPrefix("account="), !query.contains("&") else {
                throw Refusal(.invalidRequest, "The query is malformed.")
            }
            let account = try AuthorityRequest.unescaped(query.dropFirst("account=".count))
            guard 1...Self.maxAccount ~= account.utf8.count else {
                throw Refusal(.invalidRequest, "The account must have 1 to \(Self.maxAccount) bytes.")
            }
            return account
        }
    }

    /// An instance that belongs to an account is reached only with that account.
    private func checkAccount(of device: Device) async throws(Refusal) {
        let named = try account
        let owner = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.look { connection throws(TenonError) in
                try Instances.account(of: device.id, in: connection)
            }
        }
        let isSame = owner.map { $0.utf8.elementsEqual((named ?? "").utf8) } ?? (named == nil)
        guard isSame else { throw .otherAccount }
    }

    private func device() async throws(Refusal) -> Device { try await device(tag.id) }

    func device(_ id: String) async throws(Refusal) -> Device {
        let device = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.device(app: app.id, id: id)
        }
        guard let device else { throw .unknownInstance }
        return device
    }
}

extension Refusal {
    fileprivate static let otherAccount = Refusal(
        .notAllowed, "The instance does not belong to this account.", cause: "other_account")
}

extension Device {
    /// The entry of a list, and the answer about one instance.
    fileprivate var entry: JSON {
        [
            "id": .string(id), "status": state == .active ? "ACTIVE" : "REVOKED", "issued_at": .integer(registeredAt),
        ]
    }
}

extension AuthorityAnswer {
    fileprivate init(json: JSON) throws(Refusal) {
        self.init(encoded: try refusing { () throws(TenonError) in try json.encoded() })
    }
}
