# SPDX-License-Identifier: Apache-2.0
"""auths_client.py BUILD_DIR TENON_AUTHORITY: the authority of Auths over HTTP, with events of TPM keys.

It gets the logs that judges_keri.py changes, and an independent client's envelopes and presentations. It runs once with
SQLite, and once with Redis and PostgreSQL where TENON_TEST_STORES names them. keri and auths judge the log that it
gives back, and auths an envelope that it accepts."""

import base64
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import auths
import judges_keri as judges
from judging import check, verdict
from served import Served

APP = {"id": "kel", "service": "auths", "require_attestation": False, "bare_signatures": True}


class Authority(Served):
    def __init__(self, program, folder, stores):
        settings = {"apps": [APP], "limits": {"per_address_per_minute": 100000}}
        if stores:
            settings["shared"] = {"redis": f"unix:{stores}/redis.sock", "name": "auths_client",
                                  "postgres": f"postgres://tenon@/postgres?host={stores}"}
        super().__init__(program, os.path.join(folder, "state"), settings, bool(stores))
        os.mkdir(self.folder, 0o700)
        if stores:
            self.command("ca", "init", "--name", "auths")
        self.start()
        while self.ask("GET", "/health")[0] != 200:
            time.sleep(0.1)

    def ask(self, method, path, body=None, headers=None):
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers or {}, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except urllib.error.URLError:
            return 0, b""

    def register(self, event, attachment):
        members = json.loads(event)
        point = base64.urlsafe_b64decode(members["k"][0][4:]).hex()
        return self.ask("POST", "/register", {
            "prefix": members["i"], "did": "did:keri:" + members["i"], "public_key_hex": point,
            "inception_event": event, "attachment": attachment})

    def send(self, prefix, log):
        """Sends events, again while others change the log."""
        body = {"events": [event for event, _ in log], "attachments": [attachment for _, attachment in log]}
        while (answer := self.ask("POST", f"/v1/identities/{prefix}/kel", body))[0] == 503:
            pass
        return answer

    def log(self, prefix, query=""):
        answer = json.loads(self.ask("GET", f"/v1/identities/{prefix}/kel{query}")[1])
        return answer, list(zip(answer["events"], answer["attachments"]))

    def evidence(self, prefix):
        path = f"http://localhost/auths/kel/v1/identities/{prefix}/conflicts"
        answer = subprocess.check_output(["curl", "-s", "--unix-socket", f"{self.folder}/admin.sock", path])
        return json.loads(answer)["events"]


class Client:
    """An identity whose key KEY of the device is the current one."""

    def __init__(self, device, prefix, key, audience):
        self.device, self.prefix, self.key, self.audience = device, prefix, key, audience

    def sign(self, data, key=None):
        self.device.ask("sign", self.key if key is None else key, data.hex())
        return judges.raw_signature(self.device.line())

    def envelope(self, key=None, late=0, **changes):
        when = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=late)
        members = {"version": "1.0", "type": "tool_call", "identity": "did:keri:" + self.prefix,
                   "payload": {"b": 1.5, "a": "\u00e9", "n": [1, None, True]},
                   "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ")}
        text = json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return {**members, "signature": self.sign(text.encode(), key).hex(), **changes}

    def presentation(self, nonce, key=None, audience=None):
        audience = audience or self.audience
        raw = base64.urlsafe_b64decode(nonce + "=")
        signature = self.sign(b"\0".join([self.prefix.encode(), audience.encode(), raw]), key)
        token = {"identity": "did:keri:" + self.prefix, "credential_said": self.prefix, "audience": audience,
                 "binding": {"challenge": {"nonce": nonce}}, "signature_b64": judges.text64(signature)}
        return {"Authorization": "Auths-Presentation " + judges.text64(json.dumps(token).encode())}


def check_log(authority, device):
    """A registration and a log with everything that may go wrong."""
    inception, rotation = device.event("inception", 0, 1), device.event("rotation", 1, 2)
    prefix = json.loads(inception[0])["i"]
    for what, log in judges.changed_inceptions(device, inception):
        answer = authority.register(*log[0])
        check(what, answer == (400, b'{"error":"Invalid inception event"}'), answer)
    for what, event in (("an inception", inception), ("its answer was lost", inception),
                        ("another signature of it", device.signed(inception[0], 0))):
        answer = authority.register(*event)
        check(what, answer == (200, b'{"status":"registered"}'), answer)
    for what, log in judges.changed_rotations(device, inception, rotation):
        # Without the good rotation that these two begin with; the authority has the inception.
        if what not in ("a number twice", "a rotation first"):
            check(what, authority.send(prefix, log)[0] == 400)
    others = [device.signed(judges.finished(rotation[0], n=[judges.digest(bytes([i]))]), 1) for i in range(16)]
    with ThreadPoolExecutor(16) as pool:
        statuses = sorted(pool.map(lambda event: authority.send(prefix, [event])[0], others))
    check("one of many rotations wins", statuses == [200] + [409] * 15, statuses)
    answer, log = authority.log(prefix, "?from=1")
    check("the winner stays", answer["sequence"] == 1 and log[0] in others)
    check("the others are evidence", sorted(authority.evidence(prefix)) == sorted(
        event for event, _ in others if event != log[0][0]))
    check("its answer was lost", authority.send(prefix, log)[0] == 200)


def check_access(authority, client):
    def use(what, status, body=b"", headers=None):
        answer = authority.ask("POST", "/api", body, headers)
        check(what, answer[0] == status, answer)

    def nonce():
        return json.loads(authority.ask("GET", "/v1/auth/challenge")[1])["nonce"]

    envelope = client.envelope()
    check("auths accepts the envelope", auths.verify_action_envelope(
        json.dumps(envelope), client.device.points[client.key].hex()).valid)
    use("an envelope", 200, envelope)
    use("an envelope again", 401, envelope)
    use("an envelope by the old key", 401, client.envelope(key=client.key - 1))
    use("a late envelope", 401, client.envelope(late=-400))
    use("an early envelope", 401, client.envelope(late=400))
    use("a changed envelope", 401, client.envelope(payload={}))
    use("an envelope with another member", 400, client.envelope(extra=1))
    presentation = client.presentation(nonce())
    use("a presentation", 200, headers=presentation)
    use("a presentation again", 401, headers=presentation)
    use("a presentation by the old key", 401, headers=client.presentation(nonce(), key=client.key - 1))
    use("a presentation for another audience", 401, headers=client.presentation(nonce(), audience="http://other"))
    use("a nonce of nobody", 401, headers=client.presentation(judges.text64(os.urandom(32))))
    use("nothing", 401)
    bare = {"did": "did:keri:" + client.prefix, "data": "hello", "signature": client.sign(b"hello").hex()}
    use("bare data", 200, bare)


def run(build, program, stores):
    device = judges.Device(os.path.join(build, "keri_tool"))
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(program, folder, stores)
        check_log(authority, device)
        inception, rotation, third = (
            device.event(verb, key, (key + 1) % 4) for verb, key in (("inception", 2), ("rotation", 3), ("rotation", 0)))
        prefix = json.loads(inception[0])["i"]
        check("another identity", authority.register(*inception)[0] == 200)
        # Key 0 belongs to the first identity.
        check("a key that is in use", authority.send(prefix, [inception, rotation, third])[0] == 409)
        check("a whole log", authority.send(prefix, [inception, rotation])[0] == 200)
        log = authority.log(prefix)[1]
        check("keri and auths accept the log", judges.keri_accepts(log) is None and judges.auths_accepts(log) is None)
        check_access(authority, Client(device, prefix, 3, authority.url))
        authority.command("revoke", "--app", "kel", prefix)
        check("a revoked identity", authority.register(*inception)[0] == 403)
        check("the authority ends", authority.stop() == 0)
    device.stop()


def main(build, program):
    stores = os.environ.get("TENON_TEST_STORES")
    for place in [None] + ([stores] if stores else []):
        run(build, program, place)
    return verdict(f"authority over HTTP, {'both kinds of stores' if stores else 'SQLite'}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    sys.exit(main(*sys.argv[1:]))
