// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine

@main struct Main {
    static func main() async {
        // A peer that is gone is an error where it is written to.
        signal(SIGPIPE, SIG_IGN)
        do throws(TenonError) {
            try await Program.authority.run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            Output.report(error, of: Program.authority)
            exit(error.code.category.rawValue)
        }
    }
}
