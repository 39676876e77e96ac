// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// The page that shows what `tenon bench` measured. It has the parts and the style of the one that Bench/report.py
/// makes, and loads nothing from anywhere.
package struct BenchPage: Sendable {
    private let result: TPMBenchResult
    private let machine: BenchMachine

    package init(_ result: TPMBenchResult, on machine: BenchMachine) {
        self.result = result
        self.machine = machine
    }

    /// The whole file.
    package var html: String {
        let style = String(decoding: PackageResources.page_css, as: UTF8.self)
        let body = head + speeds + commands + host + life + figures + "<h2>Everything that was measured</h2>" + folds
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>Tenon: benches</title>\
            <meta name="viewport" content="width=device-width, initial-scale=1"><style>
            \(style)</style></head><body>\(body)</body></html>

            """
    }

    private var head: String {
        let named = Dictionary(machine.members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        let (cpu, compiler, glibc) = (named["cpu"] ?? "", named["compiler"] ?? "", named["glibc"] ?? "")
        return "<h1>Tenon \(HTML.text(named["tenon"] ?? "")): benches</h1><p>"
            + HTML.text("\(cpu), \(compiler), glibc \(glibc). TPM: \(named["tpm"] ?? "").")
            + " Ratios and counts hold elsewhere; times belong to this machine on that day.</p>"
    }

    /// What people call the lines, in the order of the plots.
    private static let names: KeyValuePairs = [
        "tpm-sign": "signature", "tpm-sign-salted": "signature, HMAC",
        "tpm-sign-encrypted": "signature, encrypted", "tpm-attest": "proof",
        "tpm-first-handle": "first signature, persistent copy",
        "tpm-first-srk": "first signature, storage key",
        "tpm-first-primary": "first signature, new primary",
    ]

    /// Tenon's lines with a name.
    private var own: [(name: String, line: MeasuredLine)] {
        Self.names.compactMap { key, name in
            result.lines.first { $0.line == key && $0.by == TPMBenchLine.own }.map { (name, $0) }
        }
    }

    private var speeds: String {
        var bars: [HTML.Bar] = []
        for (name, line) in own where line.line != "tpm-attest" {
            guard let floor = result.floor(of: line) else { continue }
            let speed = Quartiles(speedOf: line.rounds, beside: floor.rounds)
            let (low, high) = (Decimal.text(speed.low, 2), Decimal.text(speed.high, 2))
            let shown = "\(Decimal.text(speed.median, 2)) (\(low)-\(high))"
            bars.append(HTML.Bar("Tenon: \(name)", speed.median, shown, interval: (speed.low, speed.high)))
            if line.line == "tpm-sign" { bars.append(HTML.Bar("the floor: \(name)", 1, "1.00", colour: 2)) }
        }
        guard let first = bars.first else { return "" }
        let caption = """
            Tenon's warm signature has \(Decimal.text(first.value, 2)) of the speed of the bare TPM2_Sign; the thin \
            line spans the middle half of the rounds, so bars whose lines overlap cannot be told apart.
            """
        return "<h2>Signatures a second, beside the bare TPM2_Sign</h2>"
            + HTML.bars("signatures a second", bars, caption)
    }

    private var commands: String {
        let bars = own.compactMap { name, line in
            line.commands.map { HTML.Bar("Tenon: \(name)", $0, Decimal.text($0, 0)) }
        }
        let caption = "A chip takes milliseconds for each command, so the number of commands is what a user waits for."
        return bars.isEmpty ? "" : "<h2>TPM commands of each operation</h2>" + HTML.bars("TPM commands", bars, caption)
    }

    private var host: String {
        let signing = own.filter { $0.line.line.hasPrefix("tpm-sign") }
        guard let first = signing.first else { return "" }
        let rows = signing.map { name, line -> HTML.Dots in
            let ours = HTML.Dot(value: line.processor, colour: 0, name: "Tenon")
            let floor = result.floor(of: line).map { HTML.Dot(value: $0.processor, colour: 2, name: "the floor") }
            return HTML.Dots(name, [ours] + (floor.map { [$0] } ?? []))
        }
        let caption = """
            \(first.name == "signature" ? "Tenon's warm signature" : "Tenon's \(first.name)") costs \
            \(HTML.duration(first.line.processor)) of the host's CPU, beside what the TPM does; the scale is \
            logarithmic.
            """
        return "<h2>Work of the host for a signature, in CPU time</h2>" + HTML.dots("work of the host", rows, caption)
    }

    private var life: String {
        guard let longest = own.max(by: { $0.line.p50 < $1.line.p50 }) else { return "" }
        let rows = own.map { name, line -> HTML.Dots in
            let count = line.commands.map { ", \(Decimal.text($0, 0)) command\($0 == 1 ? "" : "s")" } ?? ""
            return HTML.Dots(name + count, [HTML.Dot(value: line.p50, colour: 0, name: "as measured")])
        }
        let time = HTML.duration(longest.line.p50)
        let caption = "As measured, the longest step (\(longest.name)) takes \(time)."
        return "<h2>A device's life, in commands and in time</h2>" + HTML.dots("a device's life", rows, caption)
    }

    /// What each figure is, as in Bench/figures.py.
    private static let words = [
        "P1": "A warm signature, beside the bare TPM2_Sign", "P2": "The same in a session that protects the bus",
        "P5": "TPM commands before a new process signs",
    ]

    private var figures: String {
        var rows: [[String]] = []
        for figure in result.figures {
            let isFirst = !rows.contains { $0[0] == figure.name }
            if isFirst { rows.append([figure.name, Self.words[figure.name] ?? "", "", ""]) }
            rows.append(["", figure.what, figure.value.map { Decimal.text($0, 3) } ?? "-", figure.verdict])
        }
        return rows.isEmpty ? "" : "<h2>The figures</h2>" + HTML.table(["", "figure", "value", "verdict"], rows)
    }

    private var folds: String {
        let lines = result.lines.map { line in
            [
                line.line, line.by == "raw" ? "the floor" : "Tenon", HTML.duration(line.p50), HTML.duration(line.p95),
                HTML.duration(line.p99), Decimal.text(line.perSecond, 1), HTML.duration(line.processor),
            ]
        }
        let sent = result.commands.map { [$0.line, $0.commands.joined(separator: ", ")] }
        return HTML.fold(
            "times of each line",
            HTML.table(["line", "by", "p50", "p95", "p99", "a second", "CPU time"], lines))
            + HTML.fold("the TPM commands of each line", HTML.table(["line", "commands"], sent))
    }
}

/// The elements of a page.
enum HTML {
    struct Bar {
        let label: String
        let value: Double
        let shown: String
        let interval: (low: Double, high: Double)?
        let colour: Int

        init(
            _ label: String, _ value: Double, _ shown: String, interval: (Double, Double)? = nil, colour: Int = 0
        ) {
            (self.label, self.value, self.shown) = (label, value, shown)
            (self.interval, self.colour) = (interval, colour)
        }
    }

    struct Dot {
        let value: Double
        let colour: Int
        let name: String
    }

    struct Dots {
        let label: String
        let points: [Dot]

        init(_ label: String, _ points: [Dot]) { (self.label, self.points) = (label, points) }
    }

    static func text(_ value: String) -> String {
        var out = ""
        for character in value {
            switch character {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "'": out += "&#x27;"
            default: out.append(character)
            }
        }
        return out
    }

    /// Three digits of a time in nanoseconds, with its unit.
    static func duration(_ nanoseconds: Double) -> String {
        let (size, unit) = [(1e9, "s"), (1e6, "ms"), (1e3, "us")].first { nanoseconds >= $0.0 } ?? (1, "ns")
        let value = nanoseconds / size
        let places = value >= 100 || value == value.rounded() ? 0 : value >= 10 ? 1 : 2
        return "\(Decimal.text(value, places)) \(unit)"
    }

    private static func row(_ label: String, _ marks: String, _ value: String) -> String {
        """
        <div class="row"><span class="label">\(text(label))</span><span class="track">\(marks)</span>\
        <span class="value">\(text(value))</span></div>
        """
    }

    private static func figure(_ title: String, _ rows: String, _ caption: String, kind: String) -> String {
        """
        <figure class="\(kind)" aria-label="\(text(title))">\(rows)<figcaption>\(text(caption))</figcaption></figure>
        """
    }

    private static func percent(_ part: Double) -> String { Decimal.text(100 * part, 2) + "%" }

    /// The longest fills the width. There must be a value above 0.
    static func bars(_ title: String, _ bars: [Bar], _ caption: String) -> String {
        let most = bars.map { max($0.value, $0.interval?.high ?? 0) }.max() ?? 1
        let rows = bars.map { bar in
            let interval = bar.interval.map { low, high in
                "<i class=\"interval\" style=\"left:\(percent(low / most));width:\(percent((high - low) / most))\"></i>"
            }
            let mark = "<i class=\"bar f\(bar.colour)\" style=\"width:\(percent(bar.value / most))\"></i>"
            return row(bar.label, mark + (interval ?? ""), bar.shown)
        }
        return figure(title, rows.joined(), caption, kind: "plot")
    }

    /// Times at places that are logarithms. They must be above 0.
    static func dots(_ title: String, _ rows: [Dots], _ caption: String) -> String {
        let values = rows.flatMap { $0.points.map(\.value) }
        guard let least = values.min(), let most = values.max(), least > 0 else { return "" }
        let low = log10(least).rounded(.down)
        let high = max(log10(most).rounded(.up), low + 1)
        func place(_ power: Double) -> String { "left:\(percent((power - low) / (high - low)))" }
        let powers = stride(from: low, through: high, by: 1)
        let ticks = powers.map { "<i class=\"tick\" style=\"\(place($0))\"><b>\(duration(pow(10, $0)))</b></i>" }
        let grid = powers.map { "<i class=\"grid\" style=\"\(place($0))\"></i>" }.joined()
        let axis = """
            <div class="row axis"><span class="label"></span><span class="track">\(ticks.joined())</span>\
            <span class="value"></span></div>
            """
        let marked = rows.map { dots in
            let marks = dots.points.map { "<i class=\"dot f\($0.colour)\" style=\"\(place(log10($0.value)))\"></i>" }
            let shown = dots.points.map { duration($0.value) }.joined(separator: ", ")
            return row(dots.label, grid + marks.joined(), shown)
        }
        return figure(title, key(of: rows) + axis + marked.joined(), caption, kind: "plot dots")
    }

    private static func key(of rows: [Dots]) -> String {
        var names: [String] = []
        for point in rows.flatMap(\.points) {
            let name = "<span><i class=\"swatch f\(point.colour)\"></i>\(text(point.name))</span>"
            if !names.contains(name) { names.append(name) }
        }
        return "<div class=\"key\">\(names.joined())</div>"
    }

    static func table(_ heading: [String], _ rows: [[String]]) -> String {
        func cells(_ row: [String], _ tag: String) -> String {
            "<tr>" + row.map { "<\(tag)>\(text($0))</\(tag)>" }.joined() + "</tr>"
        }
        return "<figure class=\"scroll\"><table>" + cells(heading, "th") + rows.map { cells($0, "td") }.joined()
            + "</table></figure>"
    }

    static func fold(_ name: String, _ content: String) -> String {
        "<details><summary>\(text(name))</summary>\(content)</details>"
    }
}
