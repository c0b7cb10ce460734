"""An ssh server of this test's own, on a port of 127.0.0.1, with keys made for it."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path


class Daemon:
    """sshd for this user alone, while the context lasts. `env`: what git needs to reach it."""

    def __init__(self, place):
        self.place = Path(place)
        self.place.mkdir(mode=0o700)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        options = (
            f"-p {self.port} -i {self.place}/mine -oUserKnownHostsFile={self.place}/known -oIdentitiesOnly=yes -F none"
        )
        self.env = {"GIT_SSH_COMMAND": f"ssh -oBatchMode=yes -oStrictHostKeyChecking=accept-new {options}"}

    @staticmethod
    def program():
        """The path of sshd; None where there is none."""
        return shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")

    def url(self, path):
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}{path}"

    def __enter__(self):
        for name in ("host", "mine"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.place / name], check=True)
        (self.place / "authorized").write_bytes((self.place / "mine.pub").read_bytes())
        config = (
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.place}/host\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {self.place}/authorized\nStrictModes no\nPasswordAuthentication no\n"
            "PermitRootLogin prohibit-password\n"
        )
        (self.place / "config").write_text(config)
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # where it separates its rights
        self.process = subprocess.Popen(
            [self.program(), "-D", "-e", "-f", self.place / "config"], stderr=subprocess.DEVNULL
        )
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.05)
        raise RuntimeError("sshd does not answer")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
