"""Ceph's S3 gateway, a real one: a monitor, one OSD in memory, and radosgw, on ports of their own.

The programs are Debian's packages, unpacked into a folder of build/; nothing is installed.

    python -m tests.servers.ceph        # downloads and unpacks them, once
"""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import signal
import subprocess
import time
import uuid
from contextlib import suppress
from pathlib import Path

from servers.ports import free_ports, wait_for_port
from servers.signed import signed_request

HOME = Path(__file__).parents[2] / "build" / "servers" / "ceph"
PACKAGES = ("ceph-mon", "ceph-osd", "radosgw", "ceph-common")
_TRIPLET = f"{platform.machine()}-linux-gnu"


def install():
    """Unpack Ceph into build/; returns why not, or None."""
    if (HOME / "usr/bin/radosgw").exists():
        return None
    if shutil.which("apt-get") is None:
        return "apt-get is not here"
    debs = HOME.parent / "debs"
    (debs / "partial").mkdir(parents=True, exist_ok=True)
    command = ["apt-get", "install", "-y", "-qq", "--download-only", "--no-install-recommends"]
    command += ["-o", f"Dir::Cache::archives={debs}", "-o", "APT::Keep-Downloaded-Packages=true"]
    for words in (["apt-get", "update", "-qq"], [*command, *PACKAGES]):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{' '.join(words[:2])}: {done.stderr.strip()[-200:]}"
    HOME.mkdir(parents=True, exist_ok=True)
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg", "-x", str(deb), str(HOME)], check=True)  # noqa: S607
    return None


class Ceph:
    """A gateway at `endpoint` that knows one user; ends with `close`."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.access_key, self.secret_key = secrets.token_hex(10).upper(), secrets.token_hex(20)
        self._processes = []
        self._libraries = [HOME / "lib" / _TRIPLET, HOME / "usr/lib" / _TRIPLET]
        self._libraries.append(self._libraries[1] / "ceph")
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self):
        mon, old_mon, gateway = free_ports(3)
        self.port, self.endpoint = gateway, f"http://127.0.0.1:{gateway}"
        for name in ("mon", "osd", "run"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "ceph.conf").write_text(self._settings(mon, old_mon))
        self._make_keys()
        monitors = f"[v2:127.0.0.1:{mon},v1:127.0.0.1:{old_mon}]"
        self._run("monmaptool", "--create", "--addv", "a", monitors, "--fsid", self.fsid, "monmap")
        self._run("ceph-mon", "--mkfs", "-i", "a", "--monmap", "monmap", "--keyring", "keyring")
        self._launch("ceph-mon", "-i", "a")
        osd = str(uuid.uuid4())
        self._try("ceph", "osd", "new", osd)
        self._run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        self._launch("ceph-osd", "-i", "0")
        self._until(lambda: "1 up" in self._run("ceph", "osd", "stat").stdout)
        self._launch("radosgw", "-n", "client.admin")
        wait_for_port(gateway)
        keys = (f"--access-key={self.access_key}", f"--secret={self.secret_key}")
        user = ("user", "create", "--uid=tests", "--display-name=tests", *keys)
        self._try("radosgw-admin", "-n", "client.admin", *user)

    def _settings(self, mon, old_mon):
        here, self.fsid = self.folder, str(uuid.uuid4())
        settings = {
            "fsid": self.fsid,
            "mon host": f"[v2:127.0.0.1:{mon},v1:127.0.0.1:{old_mon}]",
            **dict.fromkeys(("public addr", "cluster addr"), "127.0.0.1"),
            "keyring": here / "keyring",
            "run dir": here / "run",
            "crash dir": here / "run",
            "admin socket": "",
            "log file": here / "$name.log",
            "plugin dir": HOME / "usr/lib/ceph",
            "erasure code dir": HOME / "usr/lib" / _TRIPLET / "ceph/erasure-code",
            "osd class dir": HOME / "usr/lib" / _TRIPLET / "rados-classes",
            "mon data": here / "mon",
            **dict.fromkeys(("mon data avail crit", "mon data avail warn"), 1),
            "mon allow pool size one": "true",
            "mon max pg per osd": 2000,
            "paxos propose interval": 0.05,
            "osd data": here / "osd",
            "osd crush chooseleaf type": 0,
            **dict.fromkeys(("osd pool default size", "osd pool default min size"), 1),
            "osd pool default pg num": 4,
            "osd pool default pg autoscale mode": "off",
            "osd objectstore": "memstore",
            "memstore device bytes": 4 << 30,
            "rgw data": here / "run",
            # Without tcp_nodelay each answer waits for an acknowledgement, some 40 ms.
            "rgw frontends": f"beast endpoint=127.0.0.1:{self.port} tcp_nodelay=1",
        }
        lines = (f"{name} = {value}" for name, value in settings.items())
        return "[global]\n" + "\n".join(lines) + "\n"

    def _make_keys(self):
        every = ("mon", "osd", "mgr")
        users = {
            "mon.": {"mon": "allow *"},
            "client.admin": dict.fromkeys(every, "allow *"),
            "osd.0": {"mon": "allow profile osd", "osd": "allow *", "mgr": "allow profile osd"},
        }
        keyring = ""
        for user, allowed in users.items():
            words = [word for where, what in allowed.items() for word in ("--cap", where, what)]
            self._run("ceph-authtool", "-C", "one.key", "--gen-key", "-n", user, *words)
            keyring += (self.folder / "one.key").read_text()
            (self.folder / "one.key").unlink()
        for place in (self.folder / "keyring", self.folder / "run" / "keyring"):
            place.write_text(keyring)
            place.chmod(0o600)

    def _environment(self):
        paths = {
            "LD_LIBRARY_PATH": ":".join(map(str, self._libraries)),
            "PYTHONPATH": str(HOME / "usr/lib/python3/dist-packages"),
            "PATH": f"{HOME / 'usr/bin'}:{os.environ['PATH']}",
            "CEPH_CONF": str(self.folder / "ceph.conf"),
        }
        return {**os.environ, **paths}

    def _run(self, *words, check=True):
        done = subprocess.run(
            words, cwd=self.folder, env=self._environment(), capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        if check and done.returncode:
            raise RuntimeError(f"{words[0]}: {done.stdout[-300:]} {done.stderr[-500:]}")
        return done

    def _launch(self, *words):
        with (self.folder / f"{words[0]}.out").open("wb") as log:
            started = subprocess.Popen(
                [*words, "-f"], cwd=self.folder, env=self._environment(), stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        self._processes.append(started)

    def _try(self, *words):
        self._until(lambda: self._run(*words, check=False).returncode == 0)

    def _until(self, holds, seconds=40):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end or any(p.poll() is not None for p in self._processes):
                logs = "\n".join(log.read_text()[-500:] for log in self.folder.glob("*.out"))
                raise RuntimeError(f"Ceph did not start: {logs}")
            time.sleep(0.1)

    def make_bucket(self, name):
        status = signed_request("PUT", self.endpoint, f"/{name}", self.access_key, self.secret_key)
        assert status == 200, status

    def environment(self, endpoint=None):
        """The variables that a user would set."""
        return {
            "AWS_ENDPOINT_URL": endpoint or self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": "us-east-1",
        }

    def close(self):
        for process in reversed(self._processes):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


if __name__ == "__main__":
    print(install() or f"Ceph is in {HOME}")  # noqa: T201
