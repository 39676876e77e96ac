// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine

@main struct Main {
    /// The most files that are open at once, without clients' connections, which are refused when no descriptor is
    /// left.
    private static let files = 64

    static func main() {
        do throws(TenonError) { try Launch.begin(files: Main.files) } catch { end(with: error) }
        Launch.run { await work() }
    }

    private static func work() async -> Never {
        do throws(TenonError) {
            try await Program.authority.run(Launch.words)
            try Output.check()
        } catch {
            end(with: error)
        }
        exit(0)
    }

    private static func end(with error: TenonError) -> Never {
        Output.report(error, of: Program.authority)
        exit(error.code.category.rawValue)
    }
}
