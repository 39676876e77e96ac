// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct RecordFileTests {
    /// The line of JSON with another checksum.
    private func summed(_ line: String) throws -> [UInt8] {
        let line = Array((line + "\n").utf8)
        return line + Array((try Digest(hashing: line).description + "\n").utf8)
    }

    private func line(_ shape: RecordShape = .clearedWhileRotating) throws -> String {
        String(decoding: try RecordFile.encode(shape.record()).dropLast(66), as: UTF8.self)
    }

    private func code(_ bytes: [UInt8]) -> TenonError.Code? {
        codeThrown { try RecordFile.decode(bytes) }
    }

    @Test(arguments: RecordShape.allCases)
    func eachRecordIsReadAsItWasWritten(_ shape: RecordShape) throws {
        let record = try shape.record()
        let bytes = try RecordFile.encode(record)
        #expect(try RecordFile.decode(bytes) == record)
        #expect(bytes.split(separator: 10, omittingEmptySubsequences: false).map(\.count).dropFirst() == [64, 0])
    }

    @Test func theFormIsThatOfVersion4() throws {
        let text = try line(.fresh)
        #expect(
            text == """
                {"ak":null,"alias":"synheart_auth_app","app_id":"app","attestation":null,\
                "attestation_settings":null,\
                "base_url":"https://auth.example/v1","clock":null,"compromised_generation":null,\
                "dev":false,"device_id":null,\
                "device_local_id":"0b9ea3c1-5a31-4c1f-9d0e-3f1e55f1a001","dialect":"docs","ek_id":null,"journal":null,\
                "key_rotated_at":null,"keys":[],"last_generation":0,"last_slot":null,"log_tail":null,\
                "origin":"https://auth.example",\
                "platform":"linux","profile":"synheart","reason":null,"refused_at":null,"registered_at":null,\
                "revoked":false,"sig_versions":[],"signing":null,"signs_by_next":false,"state":"unregistered","version":4}
                """)
    }

    /// What an earlier version wrote is read unchanged; members that it lacks are unknown, and are written from then on.
    @Test(arguments: RecordShape.allCases, [1, 2, 3] as [Int64])
    func whatEarlierVersionsWroteIsRead(_ shape: RecordShape, _ version: Int64) throws {
        let old = try RecordFile.encode(shape.record(), version: version)
        let text = String(decoding: old, as: UTF8.self)
        let read = try RecordFile.decode(old)
        #expect(text.contains("\"version\":\(version)}") && !text.contains("\"signing\"") && read.signing == nil)
        #expect(try RecordFile.decode(RecordFile.encode(read)) == read)
        // Version 2 had no logs.
        guard version < 3 else { return }
        #expect(!text.contains("log_tail") && !text.contains("committed"))
        #expect(read.logTail == nil && !read.keys.contains(where: \.isCommitted))
        guard version < 2 else { return }
        #expect(!text.contains("signs_by_next") && !text.contains("effective_from"))
        #expect(!text.contains("attestation_settings"))
        let kept = try JSON(parsing: Array(text.prefix { $0 != "\n" }.utf8))
        #expect(try RecordFile.encode(read, version: 1) == old)
        #expect(read.journal?.effectiveAt == kept["journal"]?["effective_at"]?.integer)
        #expect(read.journal?.effectiveFrom == nil && !read.signsByNext)
        #expect(read.attestationSettings == nil && !read.isCompromised)
    }

    @Test func theTailOfALogIsKept() throws {
        let record = try RecordShape.logged.record()
        #expect(record.logTail == LogTail(sequence: 0, digest: "digest"))
        #expect(try RecordFile.decode(RecordFile.encode(record)) == record)
        for sequence in [Int64(-1), 1] {
            var other = record
            other.took(LogTail(sequence: sequence, digest: "digest"))
            #expect(codeThrown { try RecordFile.encode(other) } == .recordForm)
        }
    }

    @Test func whatWasToldForTheAttestationIsKept() throws {
        var record = try RecordShape.registered.record()
        let service = DeviceIdentity.AttestationService(url: "https://ca.example", roots: [[1, 2], [3]])
        record.attestationSettings = AttestationSettings(service: service, endorsement: [[4], [5, 6]])
        record.reportCompromise()
        #expect(try RecordFile.decode(RecordFile.encode(record)) == record)
        try record.reset(deviceLocalID: RecordShape.otherLocal)
        #expect(record.attestationSettings?.service == service && !record.isCompromised)
        record.attestationSettings?.endorsement = [[UInt8](repeating: 0, count: 65_530)]
        #expect(codeThrown { try RecordFile.encode(record) } == .recordForm)
    }

    /// Members of one version in another make the record invalid.
    @Test func theVersionsAreNotMixed() throws {
        let new = try line(.rotateAccepted)
        let file = try RecordFile.encode(RecordShape.rotateAccepted.record(), version: 1)
        let old = String(decoding: file.dropLast(66), as: UTF8.self)
        #expect(try code(summed(new)) == nil && code(summed(old)) == nil)
        #expect(code(try summed(new.replacing("\"version\":4}", with: "\"version\":1}"))) == .recordForm)
        #expect(code(try summed(old.replacing("\"version\":1}", with: "\"version\":4}"))) == .recordForm)
        for absent in ["\"signs_by_next\":false,", "\"effective_from\":{\"boot\":\"boot-1\",\"boot_ms\":500000},"] {
            let other = new.replacing(absent, with: "")
            #expect(try other != new && code(summed(other)) == .recordForm)
        }
    }

    @Test func truncatedAtEveryByte() throws {
        let bytes = try RecordFile.encode(RecordShape.clearedWhileRotating.record())
        for count in 0..<bytes.count {
            #expect(code(Array(bytes.prefix(count))) == .recordForm, "\(count)")
        }
        for tail in [[10], [0], Array("{}\n".utf8), bytes] {
            #expect(code(bytes + tail) == .recordForm)
        }
    }

    @Test func everyByteChanged() throws {
        let bytes = try RecordFile.encode(RecordShape.clearedWhileRotating.record())
        for index in bytes.indices {
            for bit in [UInt8(1), 0x20, 0x80] {
                let code = code(changed(bytes, at: index, to: bytes[index] ^ bit))
                #expect(code == .recordSum || code == .recordForm, "\(index)")
            }
            let code = code(changed(bytes, at: index, to: 10))
            #expect(bytes[index] == 10 || code == .recordSum || code == .recordForm, "\(index)")
        }
    }

    /// Who can write a record can write its sum. What reading makes of it is never a trap, nor a record that no step
    /// leads to in another form.
    @Test func everyByteChangedUnderARightSum() throws {
        let text = Array(try line().utf8)
        var taken = 0
        for index in text.indices {
            let others = [text[index] ^ 1, UInt8(ascii: "\""), UInt8(ascii: "0"), 0xff]
            let bytes = changed(text, at: index, to: others[index % 4])
            let file = bytes + [10] + Array((try Digest(hashing: bytes + [10]).description + "\n").utf8)
            do throws(TenonError) {
                #expect(try RecordFile.encode(RecordFile.decode(file)) == file)
                taken += 1
            } catch {
                #expect(error.code == .recordForm || error.code == .recordVersion, "\(index): \(error)")
            }
        }
        #expect(taken > 100)
    }

    @Test func aLaterVersionIsNotTouched() throws {
        let text = try line()
        #expect(code(try summed(text.replacing("\"version\":4}", with: "\"version\":5}"))) == .recordVersion)
        #expect(code(try summed("{\"version\":99,\"other\":[]}")) == .recordVersion)
        #expect(code(try summed(text.replacing("\"version\":4}", with: "\"version\":1}"))) == .recordForm)
        #expect(code(try summed(text.replacing("\"version\":4}", with: "\"version\":0}"))) == .recordForm)
        #expect(code(try summed(text.replacing("\"version\":4}", with: "\"version\":\"2\"}"))) == .recordForm)
        #expect(code(try summed("{}")) == .recordForm)
        #expect(code(try summed("[1]")) == .recordForm)
    }

    /// One replacement each, of a record with a rotation in flight and an invalid key.
    static let replacements: [(String, String)] = [
        (#""app_id":"app""#, [#""app_id":"other app""#, #""app_id":1"#]), (#""app_id":"app","#, [""]),
        (#""dev":false"#, [#""dev":0"#, #""dev":null"#]), (#"{"ak""#, [#"{ "ak""#, #"{"a":1,"ak""#]),
        (#""version":4}"#, [#""version":2,"x":null}"#]),
        (#""state":"keyInvalid""#, [#""state":"invalid""#, #""state":"keyReady""#, #""state":"unregistered""#]),
        (#""reason":"tpm_cleared""#, [#""reason":null"#, #""reason":"revoked""#, #""reason":"x""#]),
        (#""last_generation":2"#, [#""last_generation":1"#, #""last_generation":-1"#]),
        (#""generation":2"#, [#""generation":1"#, #""generation":3"#, #""generation":4294967296"#]),
        (#""role":"next""#, [#""role":"current""#, #""role":"previous""#]),
        (#""role":"current""#, [#""role":"previous""#]),
        (#""offered":true,"role":"next""#, [#""offered":false,"role":"next""#]),
        (#""operation":"rotate""#, [#""operation":"register""#]), (#""new_generation":2"#, [#""new_generation":1"#]),
        (#""old_generation":1"#, [#""old_generation":2"#, #""old_generation":null"#]),
        (#""awaits_approval":false"#, [#""awaits_approval":true"#]), (#""phase":"sent""#, [#""phase":"gone""#]),
        (#""slot":null"#, [#""slot":5"#]), (#""message":"BAU=""#, [#""message":"BAU""#, #""message":"BAV=""#]),
        (#""device_id":"dev-1""#, [#""device_id":"dev 1""#]), (#""device_local_id":"0b"#, [#""device_local_id":"0B"#]),
        (#""origin":"https://auth.example""#, [#""origin":"""#]), (#""dialect":"docs""#, [#""dialect":"""#]),
        (#""sig_versions":[1,2]"#, [#""sig_versions":[1,"2"]"#, #""sig_versions":{}"#]),
        (#""versions":[1,2]}"#, [#""versions":[2,1]}"#, #""versions":[3]}"#]),
        (#""batch_max":64"#, [#""batch_max":0"#, #""batch_max":1025"#]),
        (#""hosts":["api.example"]"#, [#""hosts":["api example"]"#]), (#""batches":true,"#, [""]),
        (#""attestation_settings":null"#, [#""attestation_settings":{}"#]), (#""attestation_settings":null,"#, [""]),
        (#""compromised_generation":null"#, [#""compromised_generation":3"#]),
        (#""signs_by_next":false"#, [#""signs_by_next":null"#]),
        (#""effective_from":null"#, [#""effective_from":{"boot":"b","boot_ms":1}"#]),
        (#""attestation":"attested""#, [#""attestation":"sure""#]), (#""boot":"boot-1""#, [#""boot":1"#]),
        (#""serial":"0102""#, [#""serial":"010""#]), (#""name":"000b01""#, [#""name":"000B01""#, #""name":"""#]),
    ].flatMap { old, news in news.map { (old, $0) } }

    @Test(arguments: replacements)
    func whatNoStepLeadsToIsNoRecord(_ old: String, _ new: String) throws {
        let text = try line()
        let other = text.replacing(old, with: new, maxReplacements: 1)
        #expect(other != text, "\(old) is not there")
        #expect(code(try summed(other)) == .recordForm)
        #expect(code(try summed(text)) == nil)
    }

    /// Only an offered key is tried, and only until all keys were judged; another TPM says nothing.
    @Test(arguments: RecordShape.allCases)
    func aKeyIsTriedWhereOneWasOffered(_ shape: RecordShape) throws {
        let tried = try line(shape).replacing("\"signs_by_next\":false", with: "\"signs_by_next\":true")
        let mayBe = RecordStepsTests.offering.union([.clearedWhileRotating]).contains(shape)
        #expect(code(try summed(tried)) == (mayBe ? nil : .recordForm))
        let superseded = tried.replacing("tpm_cleared", with: "superseded")
        #expect(code(try summed(superseded)) == (mayBe && superseded == tried ? nil : .recordForm))
    }

    /// The recorded digest of a key's file equals the computed one.
    @Test func aCopyThatIsNotTheFileIsNoRecord() throws {
        let text = try line()
        let digest = try RecordShape.facts(1).digest.description
        #expect(code(try summed(text.replacing(digest, with: String(digest.reversed())))) == .recordForm)
    }

    @Test func whatIsTooLongIsNotWritten() throws {
        var record = try RecordShape.registered.record()
        record.signatureVersions = Array(repeating: .max, count: 20_000)
        #expect(codeThrown { try RecordFile.encode(record) } == .tooLarge)
        // The largest that the steps allow fits: three keys, an attestation key and a message.
        let pem = [UInt8](repeating: 65, count: 4096)
        let facts = try KeyFacts(
            pem: pem, name: Array(repeating: 1, count: 66), parent: Array(repeating: 2, count: 66),
            witness: Array(repeating: 3, count: 66))
        record = try RecordShape.wiped.record()
        record.attestationKey = AttestationKey(facts: facts)
        for (generation, role) in zip(2..., [KeyRole.current, .next, .following, .previous]) {
            try record.add(facts, as: role, generation: generation, isHardware: true)
        }
        try record.begin(.register(2, message: Array(repeating: 0xff, count: 32_768)))
        let bytes = try RecordFile.encode(record)
        #expect(try RecordFile.decode(bytes) == record)
        #expect(bytes.count < RecordFile.longest / 2)
        record.attestationSettings = AttestationSettings(
            service: .init(url: "", roots: [[UInt8](repeating: 0, count: AttestationSettings.longest)]))
        #expect(try RecordFile.decode(RecordFile.encode(record)) == record)
        #expect(
            codeThrown { try record.begin(.register(2, message: Array(repeating: 0xff, count: 32_769))) } == .tooLarge)
        for count in [0, 4097] {
            let pem = [UInt8](repeating: 65, count: count)
            #expect(codeThrown { try KeyFacts(pem: pem, name: [1], parent: nil, witness: nil) } == .length)
        }
    }
}
