# SPDX-License-Identifier: Apache-2.0
# Prints what headers declare, one declaration a line behind its file: comments, directives and line breaks are gone.

{
    line = in_comment ? "/*" $0 : $0
    in_comment = 0
    while ((start = index(line, "/*")) != 0) {
        rest = substr(line, start + 2)
        end = index(rest, "*/")
        in_comment = end == 0
        line = substr(line, 1, start - 1) (in_comment ? "" : " " substr(rest, end + 2))
    }
    if (in_directive || line ~ /^[ \t]*#/) {
        in_directive = line ~ /\\$/
        next
    }
    gsub(/TENON_(BEGIN|END)|TENON_STATUS_LIST\([A-Z_]*\)/, "", line)
    text = text " " line
    while ((end = match(text, /[;{}]/)) != 0) {
        declaration = substr(text, 1, end - 1)
        text = substr(text, end + 1)
        gsub(/[ \t]+/, " ", declaration)
        sub(/^ /, "", declaration)
        if (declaration != "")
            print FILENAME ": " declaration
    }
}
