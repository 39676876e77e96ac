// SPDX-License-Identifier: Apache-2.0

// What bash completes a command line with.
extension Program {
    var completion: String {
        let function = "_" + name.split(separator: "-").joined(separator: "_")
        var cases = ""
        for first in firstWords {
            let group = verbs.filter { $0.words[0] == first }
            let words =
                group.filter { $0.words.count > 1 }.map { $0.words[1] }
                + Set(group.flatMap(\.flags).map(\.name)).sorted()
            cases += "        \(first)) words='\(words.joined(separator: " ")) --help' ;;\n"
        }
        return """
            \(function)() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words
                case $before in
                    \(flags { $0.hasSuffix("FILE") })) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word")); return ;;
                    \(flags { $0 == "DIR" })) compopt -o filenames; COMPREPLY=($(compgen -d -- "$word")); return ;;
                    \(flags { !$0.hasSuffix("FILE") && $0 != "DIR" })) return ;;
                esac
                case ${COMP_WORDS[1]} in
            \(cases)        *) words='\(firstWords.joined(separator: " ")) --help --version --man --completion' ;;
                esac
                COMPREPLY=($(compgen -W "$words" -- "$word"))
            }
            complete -F \(function) \(name)

            """
    }

    private var firstWords: [String] {
        var seen: Set<String> = []
        return verbs.map { $0.words[0] }.filter { seen.insert($0).inserted }
    }

    /// The flags whose value is of such a kind, as a pattern of the shell.
    private func flags(_ isWanted: (String) -> Bool) -> String {
        let names = Set(verbs.flatMap(\.flags).filter { $0.value.map(isWanted) ?? false }.map(\.name))
        return names.isEmpty ? "-" : names.sorted().joined(separator: "|")
    }
}
