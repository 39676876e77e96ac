#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py VERSION: the SBOM of the last commit, SPDX 2.3 as JSON: each file with its checksums and its licence, and
what the programs are built with, in the versions of this machine."""

import hashlib
import json
import re
import subprocess
import sys

# The packages that programs link, with the licences that their copyright files give. `make dist` runs where a release
# is built, so the versions are those that went into it.
LINKED = {
    "libcurl4-openssl-dev": "curl",
    "libhiredis-dev": "BSD-3-Clause",
    "libmbedtls-dev": "Apache-2.0 OR GPL-2.0-or-later",
    "libmicrohttpd-dev": "LGPL-2.1-or-later",
    "libpq-dev": "PostgreSQL",
    "libsqlite3-dev": "blessing",
    "libssl-dev": "Apache-2.0",
    "libtss2-dev": "BSD-2-Clause",
}
LICENCE = re.compile(rb"SPDX-License-Identifier: ([A-Za-z0-9.+-]+)")


def output(*command):
    return subprocess.run(command, capture_output=True, check=True).stdout


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]", "-", name)


def files():
    for number, name in enumerate(output("git", "ls-tree", "-r", "-z", "--name-only", "HEAD").decode().split("\0")[:-1]):
        content = output("git", "cat-file", "blob", f"HEAD:{name}")
        found = LICENCE.search(b"\n".join(content.split(b"\n", 5)[:5]))
        licence = found.group(1).decode() if found else "NOASSERTION"
        yield {
            "SPDXID": f"SPDXRef-File-{number}", "fileName": "./" + name,
            "checksums": [{"algorithm": kind, "checksumValue": hashlib.new(kind.lower(), content).hexdigest()}
                          for kind in ("SHA1", "SHA256")],
            "licenseInfoInFiles": [licence], "licenseConcluded": licence, "copyrightText": "NOASSERTION",
        }


def package(name, version, licence, **more):
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", **more}


def linked():
    for name, licence in LINKED.items():
        yield package(name, output("dpkg-query", "-W", "-f", "${Version}", name).decode(), licence)
    swift = re.search(r"Swift version ([0-9.]+)", output("swift", "--version").decode()).group(1)
    yield package("swift-runtime", swift, "Apache-2.0 WITH Swift-exception")


def main(version):
    commit, date = output("git", "log", "-1", "--format=%H %ct").decode().split()
    every, needs = list(files()), list(linked())
    sums = sorted(file["checksums"][0]["checksumValue"] for file in every)
    tenon = package("tenon", version, "Apache-2.0", hasFiles=[file["SPDXID"] for file in every])
    tenon["filesAnalyzed"] = True
    tenon["packageVerificationCode"] = {"packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()}
    tenon["licenseInfoFromFiles"] = sorted({file["licenseConcluded"] for file in every})
    created = output("date", "-u", "-d", "@" + date, "+%Y-%m-%dT%H:%M:%SZ").decode().strip()
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", tenon["SPDXID"])]
    relations += [(tenon["SPDXID"], "STATIC_LINK" if need["name"] == "swift-runtime" else "DYNAMIC_LINK", need["SPDXID"])
                  for need in needs]
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"tenon-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/tenon-{version}-{commit}",
        "creationInfo": {"created": created, "creators": ["Tool: packaging/sbom.py"]},
        "packages": [tenon, *needs], "files": every,
        "relationships": [{"spdxElementId": of, "relationshipType": kind, "relatedSpdxElement": to}
                          for of, kind, to in relations],
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
