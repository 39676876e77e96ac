# SPDX-License-Identifier: Apache-2.0
"""tenon-authority as scripts serve it: at a port of its own, with settings that they give."""

import json
import os
import socket
import subprocess
import threading
import time


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Served:
    def __init__(self, program, folder, settings, shared=False):
        self.program, self.folder, self.shared, self.said = program, folder, shared, []
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.config = f"{folder}.json"
        with open(self.config, "w") as file:
            json.dump({"origins": [self.url], "public": {"address": "127.0.0.1", "port": self.port}, **settings}, file)

    def command(self, *words):
        return subprocess.run([self.program, *words, "--state-dir", self.folder], check=True, capture_output=True).stdout

    def start(self, before=(), environment=None):
        """Serves until it listens; each line of its log is kept, with the time."""
        command = [*before, self.program, "serve", "--state-dir", self.folder, "--config", self.config]
        self.process = subprocess.Popen(
            command + (["--shared"] if self.shared else []), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, env={**os.environ, **(environment or {})})
        threading.Thread(target=self.read_log, args=(self.process.stderr,), daemon=True).start()
        deadline = time.time() + 60
        while time.time() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"tenon-authority does not start: {self.said[-3:]}")

    def read_log(self, pipe):
        for line in pipe:
            self.said.append((time.time(), line.strip().removeprefix("tenon-authority: ")))

    def stop(self):
        """Its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None
