// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

extension AuditLog {
    /// Which of these changes have their lines in the file. Blocks on the disk: for a start, before anything is written.
    func changes(among ids: Set<String>) throws(TenonError) -> Set<String> {
        guard let file = fopen(path, "re") else { throw AuditFile.refusal }
        defer { fclose(file) }
        // Within a text of JSON a quotation mark has a backslash before it.
        let mark = Array("\"\(OutboxLine.nameMember)\":\"".utf8)
        var found: Set<String> = []
        var rest: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 {
            rest += piece[..<count]
            var end = 0
            for line in rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
                end = line.endIndex + 1
                guard let start = AuditLog.end(of: mark, in: line) else { continue }
                let id = String(decoding: line[start...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
                if ids.contains(id) { found.insert(id) }
            }
            rest.removeFirst(end)
        }
        guard ferror(file) == 0 else { throw AuditFile.refusal }
        return found
    }

    private static func end(of mark: [UInt8], in line: ArraySlice<UInt8>) -> Int? {
        var place = line.startIndex
        while let quote = line[place...].firstIndex(of: mark[0]) {
            if line[quote...].starts(with: mark) { return quote + mark.count }
            place = quote + 1
        }
        return nil
    }
}
