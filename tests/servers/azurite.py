"""Azurite, Microsoft's own server of Azure's blobs for tests, by npm, in a folder of build/.

python -m tests.servers.azurite     # installs it there, once
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import shutil
import signal
import subprocess
import urllib.request
from email.utils import formatdate
from pathlib import Path

from servers.ports import free_ports, wait_for_port

HOME = Path(__file__).parents[2] / "build" / "servers" / "azurite"
VERSION = "3.35.0"
# The account that every Azurite has; it is printed in its documentation and opens nothing else.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def install():
    """Install Azurite into build/; returns why not, or None."""
    if (HOME / "node_modules/.bin/azurite-blob").exists():
        return None
    if shutil.which("npm") is None:
        return "npm is not here"
    HOME.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--no-audit", "--no-fund", "--silent", f"azurite@{VERSION}"]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False)
    return f"npm: {done.stderr.strip()[-200:]}" if done.returncode else None


class Azurite:
    """A server of blobs; ends with `close`."""

    def __init__(self, folder):
        self.port = free_ports(1)[0]
        command = [str(HOME / "node_modules/.bin/azurite-blob"), "--blobHost", "127.0.0.1"]
        command += ["--blobPort", str(self.port), "--location", str(folder), "--silent"]
        self._process = subprocess.Popen(
            [*command, "--skipApiVersionCheck", "--disableTelemetry"], start_new_session=True
        )
        wait_for_port(self.port)

    def environment(self, port=None):
        """The variables that a user would set."""
        return {
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": KEY,
            "AZURE_STORAGE_ENDPOINT": f"http://127.0.0.1:{port or self.port}/{ACCOUNT}",
        }

    def make_container(self, name):
        """Make one by a signed request, which obstore has no function for."""
        date = formatdate(usegmt=True)
        signed = f"PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-version:2021-08-06\n"
        signed += f"/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
        digest = hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()
        headers = {
            "x-ms-date": date,
            "x-ms-version": "2021-08-06",
            "Authorization": f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}",
        }
        address = f"http://127.0.0.1:{self.port}/{ACCOUNT}/{name}?restype=container"
        request = urllib.request.Request(address, method="PUT", headers=headers)
        urllib.request.urlopen(request, timeout=30).close()  # noqa: S310  our own server

    def close(self):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


if __name__ == "__main__":
    print(install() or f"Azurite is in {HOME}")  # noqa: T201
