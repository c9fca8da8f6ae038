"""nginx with TLS, by Debian's package unpacked into build/, with a certificate made for it.

python -m tests.servers.nginx       # downloads and unpacks it, once
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

from servers.ports import free_ports, wait_for_port

HOME = Path(__file__).parents[2] / "build" / "servers" / "nginx"


def _program():
    found = shutil.which("nginx")
    return found or next(map(str, HOME.glob("usr/sbin/nginx")), None)


def install():
    """Unpack nginx into build/; returns why not, or None."""
    if _program() is not None:
        return None
    if shutil.which("apt-get") is None:
        return "apt-get is not here"
    HOME.mkdir(parents=True, exist_ok=True)
    command = ["apt-get", "download", "-qq", "nginx"]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"apt-get: {done.stderr.strip()[-200:]}"
    for deb in HOME.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(deb), str(HOME)], check=True)  # noqa: S607
    return None if _program() else "Debian's package has no nginx in it"


class Nginx:
    """Serves the files of `folder` at https://localhost:port/ and http://127.0.0.1:plain_port/."""

    def __init__(self, folder, state):
        self.port, self.plain_port = free_ports(2)
        state = Path(state)
        (state / "logs").mkdir(parents=True)
        self.certificate = state / "certificate.pem"
        subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        made = ("-keyout", state / "key.pem", "-out", self.certificate, "-days", "2")
        usage = ("-addext", "basicConstraints=critical,CA:FALSE")
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *made, *subject]
        subprocess.run([*map(str, command), *usage], check=True, capture_output=True)
        temporary = "\n".join(
            f"{name}_temp_path {state}/{name};"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (state / "nginx.conf").write_text(f"""
daemon off; worker_processes 1; pid {state}/pid; error_log {state}/logs/error.log;
user root;
events {{ worker_connections 512; }}
http {{
  access_log off; {temporary}
  sendfile on; keepalive_requests 100000;
  server {{
    listen 127.0.0.1:{self.plain_port}; listen 127.0.0.1:{self.port} ssl;
    ssl_certificate {self.certificate}; ssl_certificate_key {state}/key.pem;
    root {folder};
  }}
}}
""")
        command = [_program(), "-p", str(state), "-c", str(state / "nginx.conf")]
        self._process = subprocess.Popen(command, start_new_session=True)
        wait_for_port(self.plain_port)

    def environment(self):
        """The variables that a user would set for a certificate of his own."""
        return {"SSL_CERT_FILE": str(self.certificate)}

    def close(self):
        os.killpg(self._process.pid, signal.SIGKILL)  # with its workers
        self._process.wait()


if __name__ == "__main__":
    print(install() or f"nginx is {_program()}")  # noqa: T201
