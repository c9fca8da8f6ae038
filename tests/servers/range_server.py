"""A small web server for quick tests, with ranges, suffixes, etags and If-Match as in buckets."""

from __future__ import annotations

import re
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class RangeServer:
    """Serves `objects`, by path, at `address`; counts what it was asked for."""

    handler = None  # that of the requests; see below

    def __init__(self, objects=None, *, etags=True):
        self.objects = dict(objects or {})
        self.etags = etags
        self.requests = []  # (method, path, range)
        self._server = _Server(("127.0.0.1", 0), self.handler or Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def port(self):
        return self._server.server_address[1]

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, client_address):
        """Say nothing of connections that a proxy has cut."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    @property
    def name(self):
        return self.path

    def do_HEAD(self):
        self._answer(with_body=False)

    def do_GET(self):
        self._answer(with_body=True)

    def _answer(self, *, with_body):
        owner = self.server.owner
        content = owner.objects.get(self.name)
        asked = self.headers.get("Range")
        owner.requests.append((self.command, self.path, asked))
        if content is None:
            self._send(404, b"no such object", with_body=with_body)
            return
        etag = self._etag(content)
        headers = {"ETag": etag} if owner.etags else {}
        headers["Last-Modified"] = "Mon, 16 Nov 2026 10:00:00 GMT"
        if self.headers.get("If-Match", etag) != etag:
            self._send(412, b"changed", headers, with_body=with_body)
            return
        match = _RANGE.fullmatch(asked or "")
        if match is None:
            self._send(200, content, headers, with_body=with_body)
            return
        first, last = match.groups()
        if first:
            start, end = int(first), min(int(last) + 1 if last else len(content), len(content))
        else:
            start, end = max(0, len(content) - int(last)), len(content)
        if start >= end:
            self._send(416, b"no such range", headers, with_body=with_body)
            return
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(content)}"
        self._send(206, memoryview(content)[start:end], headers, with_body=with_body)

    def _etag(self, content):
        return f'"{len(content):x}-{zlib.adler32(content[:4096]):x}-{id(content):x}"'

    def _send(self, status, body, headers=None, *, with_body):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, *_):
        """Print nothing."""
