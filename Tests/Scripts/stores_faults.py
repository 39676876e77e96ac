#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stores_faults.py AUTHORITY CLOCK [NAME...]: what goes wrong in the stores of authorities, on a real Redis and PostgreSQL
(Tests/Scripts/stores.sh starts them) with two instances, and on a disk that is full. Of each fault it prints what a
client, /health, the metrics and the log said, and when; it fails when one of them said it later than LIMIT seconds, or
when a request was taken twice. CLOCK is the library of clock.c, by which processes have clocks of their own."""
import base64
import ctypes
import http.client
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid

from served import Served

LIMIT = 5.0
AUTHORITY, CLOCK = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
STORES = os.environ["TENON_TEST_STORES"] + "/fragile"
FOLDER = tempfile.mkdtemp(prefix="tenon-faults.")
libcrypto = ctypes.CDLL("libcrypto.so.3")
for name in ("EVP_PKEY_Q_keygen", "EVP_MD_CTX_new", "EVP_sha256"):
    getattr(libcrypto, name).restype = ctypes.c_void_p


class Key:
    def __init__(self):
        self.key = ctypes.c_void_p(libcrypto.EVP_PKEY_Q_keygen(None, None, b"EC", ctypes.c_char_p(b"P-256")))
        der = ctypes.create_string_buffer(libcrypto.i2d_PUBKEY(self.key, None))
        libcrypto.i2d_PUBKEY(self.key, ctypes.byref(ctypes.c_void_p(ctypes.addressof(der))))
        self.public = der.raw

    def sign(self, message):
        context = ctypes.c_void_p(libcrypto.EVP_MD_CTX_new())
        libcrypto.EVP_DigestSignInit(context, None, ctypes.c_void_p(libcrypto.EVP_sha256()), None, self.key)
        signature, size = ctypes.create_string_buffer(128), ctypes.c_size_t(128)
        libcrypto.EVP_DigestSign(context, signature, ctypes.byref(size), message, ctypes.c_size_t(len(message)))
        libcrypto.EVP_MD_CTX_free(context)
        return signature.raw[: size.value]


class Clock:
    """The wall clock of a process, by how many seconds it is ahead."""

    def __init__(self, name):
        self.path = f"{FOLDER}/{name}.clock"
        self.set(0)
        self.environment = {"LD_PRELOAD": CLOCK, "CLOCK_FILE": self.path}

    def set(self, seconds):
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(file, struct.pack("q", int(seconds * 1000)), 0)
        os.close(file)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Instance(Served):
    """An authority, and everything that it says, with the time."""

    def __init__(self, name, shared=True):
        self.name, self.clock = name, Clock(name)
        self.events, self.device, self.process, self.root = [], None, None, ""
        settings = {
            "apps": [{"id": "open", "require_attestation": False}],
            "limits": {"per_address_per_minute": 1000000, "per_app_per_minute": 1000000},
            "instance": name,
        }
        if shared:
            settings["shared"] = {
                "redis": f"unix:{STORES}/redis.sock", "name": f"faults{os.getpid()}",
                "postgres": f"host={STORES} user=tenon dbname=postgres",
            }
        super().__init__(AUTHORITY, f"{FOLDER}/{name}", settings, shared)
        os.mkdir(self.folder, 0o700)

    def start(self, before=()):
        return super().start(before, self.clock.environment)

    def ask(self, method, path, body=b"", headers={}, admin=False):
        connection = (
            UnixConnection(f"{self.root}{self.folder}/admin.sock", 3) if admin
            else http.client.HTTPConnection("127.0.0.1", self.port, timeout=3))
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return str(answer.status), answer.read()
        except TimeoutError:
            return "no answer", b""
        except OSError:
            return "refused", b""
        except http.client.HTTPException:
            return "cut", b""
        finally:
            connection.close()

    def register(self):
        status, body = self.ask("POST", "/v1/device/challenge", json.dumps({"app_id": "open"}).encode())
        if status != "200":
            return status, None
        key = Key()
        message = {
            "app_id": "open", "challenge": json.loads(body)["challenge"], "proof": "none", "platform": "linux",
            "public_key": base64.b64encode(key.public).decode(),
        }
        status, body = self.ask("POST", "/v1/device/register", json.dumps(message).encode())
        return (status, (json.loads(body)["device_id"], key) if status == "200" else None)

    def signed(self):
        """The headers of a request, signed now."""
        identifier, key = self.device
        now = str(int(time.time()))
        return {
            "X-App-ID": "open", "X-Device-ID": identifier, "X-Synheart-Timestamp": now,
            "X-Synheart-Signature": base64.b64encode(key.sign(f"GET\n/v1/echo\n{now}\n".encode())).decode(),
            "X-Synheart-Nonce": str(uuid.uuid4()), "X-Synheart-Sig-Version": "1",
        }

    def echo(self, headers=None):
        status, body = self.ask("GET", "/v1/echo", headers=headers or self.signed())
        try:
            code = json.loads(body).get("error_code")
        except ValueError:
            code = None
        return f"{status} {code}" if code else status

    def watch(self):
        """Notes what changes of what it says."""
        last = {}

        def note(what, said):
            if last.get(what) != said:
                last[what] = said
                self.events.append((time.time(), what, said))

        def loop(what, ask):
            while True:
                note(what, ask())
                time.sleep(0.2)

        def healthy():
            text = self.ask("GET", "/metrics", admin=True)[1].decode()
            return next((line.split()[1] for line in text.splitlines() if line.startswith("tenon_authority_healthy ")), "-")

        asks = {"client": self.echo, "/health": lambda: self.ask("GET", "/health")[0], "metric": healthy}
        if self.device is None:
            asks["client"] = lambda: self.register()[0]
        for what, ask in asks.items():
            threading.Thread(target=loop, args=(what, ask), daemon=True).start()


failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"  FAILED    {text}")


def until(condition, seconds):
    deadline = time.time() + seconds
    while time.time() < deadline and not condition():
        time.sleep(0.05)
    return condition()


def report(begun, ended, instances, sick=("client", "/health", "metric", "log"), since=None):
    """Prints what was said, and expects each to be told in time, in both directions; a start of theirs, which began at
    since, is not counted."""
    since = since or begun - 0.2
    for instance in instances:
        for what in ("client", "/health", "metric"):
            said = [(at - begun, words) for at, kind, words in list(instance.events) if kind == what and at > since]
            print(f"  {what:9} {instance.name}: " + (", ".join(f"{words} at {at:+.1f} s" for at, words in said) or "no change"))
            good = "1" if what == "metric" else "200"
            bad = [at for at, words in said if words not in (good, "refused", "-")]
            if what not in sick:
                continue
            expect(bad and min(bad) <= LIMIT, f"{what} of {instance.name} told of the fault within {LIMIT:.0f} s")
            last = said[-1] if said else (0, good)
            expect(
                last[1] == good and last[0] <= ended - begun + LIMIT,
                f"{what} of {instance.name} was well {LIMIT:.0f} s after the fault")
        told = ("has a fault", "works again")
        lines = [(at - begun, line) for at, line in list(instance.said)
                 if at > since and any(words in line for words in told)]
        for at, line in lines:
            print(f"  log       {instance.name}: {at:+.1f} s: {line}")
        if "log" in sick:
            bad = [at for at, line in lines if told[0] in line]
            good = [at for at, line in lines if told[1] in line]
            expect(bad and min(bad) <= LIMIT, f"the log of {instance.name} told of the fault within {LIMIT:.0f} s")
            expect(good and max(good) <= ended - begun + LIMIT, f"the log of {instance.name} told of its end in time")


def server(*words, environment={}):
    subprocess.run([f"{STORES}/server", *words], check=True, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)


def well(instances):
    return until(lambda: all(i.echo() == "200" and i.ask("GET", "/health")[0] == "200" for i in instances), 30)


def fault(seconds, begin, end, instances, **kinds):
    """Begins a fault, ends it after so many seconds, and reports."""
    expect(well(instances), "all was well before")
    begun = time.time()
    begin()
    time.sleep(max(0, seconds - (time.time() - begun)))
    end()
    ended = time.time()
    time.sleep(LIMIT)
    report(begun, ended, instances, **kinds)


def twenty(instances):
    expect(well(instances), "all was well before")
    requests = [instances[0].signed() for _ in range(20)]
    said = [instances[n % len(instances)].echo(headers) for n, headers in enumerate(requests)]
    expect(said == ["200"] * 20, f"20 requests were taken: {said}")
    return requests


def again(requests, instances, when):
    said = [instances[n % len(instances)].echo(headers) for n, headers in enumerate(requests)]
    counts = ", ".join(f"{said.count(words)} x {words}" for words in sorted(set(said)))
    print(f"  client    the {len(requests)} again, {when}: {counts}")
    expect("200" not in said, f"none of {len(requests)} requests was taken twice, {when}")


def during(seconds, begin, end):
    """A fault that begins and ends so."""
    return lambda instances: fault(seconds, begin, end, instances)


def redis(*words):
    return subprocess.run([f"{STORES}/server", "redis", "do", *words], check=True, capture_output=True, text=True).stdout


def signal_redis(number):
    with open(f"{STORES}/redis.pid") as file:
        os.kill(int(file.read()), number)


def redis_evicts(instances):
    requests = [request for _ in range(5) for request in twenty(instances)]
    time.sleep(2)
    begun = time.time()
    used = next(line.split(":")[1] for line in redis("INFO", "memory").splitlines() if line.startswith("used_memory:"))
    redis("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
    redis("CONFIG", "SET", "maxmemory", used)
    redis("EVAL", "for n = 1, 40 do redis.call('SET', 'junk' .. n, string.rep('x', 1000)) end", "0")
    evicted = [line for line in redis("INFO", "stats").splitlines() if line.startswith("evicted_keys:")]
    print(f"  Redis     {evicted[0]}")
    again(requests, instances, "at once")
    redis("CONFIG", "SET", "maxmemory", "0")
    redis("CONFIG", "SET", "maxmemory-policy", "noeviction")
    redis("EVAL", "for n = 1, 40 do redis.call('DEL', 'junk' .. n) end", "0")
    again(requests, instances, "when it throws nothing away any more")
    ended = time.time()
    time.sleep(LIMIT)
    report(begun, ended, instances, sick=("client",))
    again(requests, instances, "later")


def postgres_locked(instances):
    schema = f"faults{os.getpid()}"
    sql = f"BEGIN; LOCK TABLE {schema}.devices; SELECT pg_sleep(6); COMMIT"
    holders = []
    fault(
        6, lambda: holders.append(subprocess.Popen([f"{STORES}/server", "postgres", "sql", sql], stdout=subprocess.DEVNULL)),
        lambda: holders[0].wait(), instances)


def start_redis():
    server("redis", "start", environment=redis_clock.environment)


def redis_again(seconds):
    """Redis is killed, and started again with a clock that is so far ahead."""
    server("redis", "kill")
    redis_clock.set(seconds)
    start_redis()


def set_clocks(seconds, instances):
    for clock in [redis_clock] + [instance.clock for instance in instances]:
        clock.set(seconds)


def redis_back(instances):
    requests = twenty(instances)
    begun = time.time()
    redis_again(-60)
    again(requests, instances, "at a Redis that is 60 s behind")
    time.sleep(4)
    redis_again(0)
    ended = time.time()
    again(requests, instances, "at a Redis that has the time")
    time.sleep(LIMIT)
    report(begun, ended, instances)
    again(requests, instances, "later")


def all_back(instances):
    requests = twenty(instances)
    since = time.time()
    for instance in instances:
        instance.stop()
        instance.clock.set(-60)
    redis_again(-60)
    for instance in instances:
        instance.start()
    # Who is not there yet tells nothing.
    begun = time.time()
    again(requests, instances, "at a Redis and instances that are 60 s behind, all started again")
    time.sleep(3)
    print(f"  client    a new request meanwhile: {[instance.echo() for instance in instances]}")
    again(requests, instances, "3 s later")
    have_the_time(begun, requests, instances, "when all have the time again", since=since)


def have_the_time(begun, requests, instances, when, **kinds):
    """All have the time again: it is told, and all is well."""
    set_clocks(0, instances)
    ended = time.time()
    time.sleep(LIMIT)
    again(requests, instances, when)
    report(begun, ended, instances, sick=("/health", "metric", "log"), **kinds)
    expect(well(instances), "all was well afterwards")


def ahead(clock, instances):
    requests = twenty(instances)
    fault(4, lambda: clock.set(3600), lambda: clock.set(0), instances)
    again(requests, instances, "after it")


def instance_ahead(instances):
    ahead(instances[0].clock, instances[:1])
    for other in instances[1:]:
        unwell = [words for at, kind, words in list(other.events) if kind == "client" and at > time.time() - 9 and words != "200"]
        expect(not unwell, f"{other.name} served meanwhile: {unwell}")


def all_ahead(instances):
    requests = twenty(instances)
    begun = time.time()
    set_clocks(3600, instances)
    time.sleep(2)
    print(f"  client    a new request meanwhile: {[instance.echo() for instance in instances]}")
    for instance in instances:
        instance.stop()
        instance.start()
        if instance == instances[0]:
            redis_again(3600)
    time.sleep(2)
    have_the_time(begun, requests, instances, "after it")


def disk_full(_):
    instance = Instance("alone", shared=False)
    user = [] if os.getuid() == 0 else ["-r"]
    mount = f"mount -t tmpfs -o size=4m,mode=700 none {instance.folder} && exec \"$@\""
    instance.root = "/proc/self/root"
    instance.start(before=["unshare", "-m", *user, "sh", "-c", mount, "sh"])
    instance.root = f"/proc/{instance.process.pid}/root"
    expect(until(lambda: instance.ask("GET", "/health")[0] == "200", 10), "it was well before")
    instance.watch()
    time.sleep(1)
    begun = time.time()
    path = f"{instance.root}{instance.folder}/filling"
    try:
        with open(path, "wb") as file:
            while True:
                file.write(bytes(4096))
                file.flush()
    except OSError as error:
        print(f"  disk      {error.strerror}")
    time.sleep(5)
    os.unlink(path)
    ended = time.time()
    time.sleep(LIMIT)
    report(begun, ended, [instance])
    instance.stop()


redis_clock = Clock("redis")
FAULTS = [
    ("redis_full", "Redis has no memory left (noeviction), 6 s",
     during(6, lambda: server("redis", "set", "maxmemory", "1"), lambda: server("redis", "set", "maxmemory", "0"))),
    ("redis_evicts", "Redis is told to throw entries away, and does", redis_evicts),
    ("redis_gone", "Redis is killed, and back after 3 s", during(3, lambda: server("redis", "kill"), start_redis)),
    ("redis_hangs", "Redis hangs (SIGSTOP) for 6 s",
     during(6, lambda: signal_redis(signal.SIGSTOP), lambda: signal_redis(signal.SIGCONT))),
    ("postgres_gone", "PostgreSQL is killed, and back after 3 s",
     during(3, lambda: server("postgres", "kill"), lambda: server("postgres", "start"))),
    ("postgres_hangs", "PostgreSQL hangs (SIGSTOP) for 6 s",
     during(6, lambda: server("postgres", "pause"), lambda: server("postgres", "resume"))),
    ("postgres_locked", "Somebody locks the table of devices for 6 s", postgres_locked),
    ("redis_back", "Redis is started again 60 s behind, and then with the time", redis_back),
    ("all_back", "Redis and both instances are started again 60 s behind", all_back),
    ("instance_ahead", "The clock of one instance is an hour ahead for 4 s", instance_ahead),
    ("redis_ahead", "Redis's clock is an hour ahead for 4 s", lambda instances: ahead(redis_clock, instances)),
    ("all_ahead", "The clocks of Redis and both instances are an hour ahead, and all are started again meanwhile", all_ahead),
    ("disk_full", "The disk of an authority on SQLite is full for 5 s", disk_full),
]


def main():
    names = sys.argv[3:]
    redis_again(0)
    instances = [Instance("one"), Instance("two")]
    instances[0].command("ca", "init", "--name", "Example")
    shutil.copy(f"{instances[0].folder}/ca.json", f"{instances[1].folder}/ca.json")
    try:
        for instance in instances:
            instance.start()
        well_registered = instances[0].register()[1]
        for instance in instances:
            instance.device = well_registered
            instance.watch()
        for name, text, run in FAULTS:
            if not names or name in names:
                before = len(failures)
                print(f"{name}: {text}", flush=True)
                run(instances)
                print(f"  {'ok' if len(failures) == before else 'FAILED'}", flush=True)
    finally:
        for instance in instances:
            if instance.process and instance.process.poll() is None:
                instance.stop()
        subprocess.run(["rm", "-rf", FOLDER])
    print(f"{len(failures)} expectations were not met" if failures else "all faults were told in time, and nothing was taken twice")
    sys.exit(1 if failures else 0)


main()
