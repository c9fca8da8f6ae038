"""A small server that speaks as much S3 as `pack` needs, for quick tests: lists come in pages.

It checks no signatures, and has no quotas but what a test says; real ones are in ceph.py.
"""

from __future__ import annotations

import re
import threading
import uuid
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

from servers.range_server import Handler, RangeServer

_NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'


class _S3Handler(Handler):
    @property
    def name(self):
        return unquote(urlsplit(self.path).path)

    @property
    def asked(self):
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        return {name: values[0] for name, values in query.items()}

    def do_GET(self):  # noqa: N802  as the standard library calls it
        if "list-type" in self.asked:
            self._list()
        else:
            self._answer(with_body=True)

    def do_PUT(self):  # noqa: N802
        body, owner = self._body(), self.server.owner
        owner.requests.append(("PUT", self.name, None))
        if owner.before_put is not None:
            owner.before_put(self.name)
        if self._bucket_is_missing():
            return
        if owner.refuses is not None:
            self._error(403, owner.refuses)
            return
        asked = self.asked
        with owner.lock:
            if "uploadId" in asked:
                owner.uploads[asked["uploadId"]][int(asked["partNumber"])] = body
            elif self.headers.get("If-None-Match") == "*" and self.name in owner.objects:
                self._error(412, "PreconditionFailed")
                return
            else:
                owner.objects[self.name] = body
        self._send(200, b"", {"ETag": f'"{uuid.uuid4().hex}"'}, with_body=True)

    def do_POST(self):  # noqa: N802
        body, owner, asked = self._body(), self.server.owner, self.asked
        if self._bucket_is_missing():
            return
        if "uploads" in asked:
            upload = uuid.uuid4().hex
            owner.uploads[upload] = {}
            said = f"<InitiateMultipartUploadResult {_NAMESPACE}><UploadId>{upload}</UploadId>"
            self._xml(said + "</InitiateMultipartUploadResult>")
        elif "uploadId" in asked:
            with owner.lock:
                parts = owner.uploads.pop(asked["uploadId"])
                owner.objects[self.name] = b"".join(parts[number] for number in sorted(parts))
            said = f"<CompleteMultipartUploadResult {_NAMESPACE}><ETag>&quot;x&quot;</ETag>"
            self._xml(said + "</CompleteMultipartUploadResult>")
        else:  # ?delete
            bucket = self.name.rstrip("/")
            keys = re.findall(r"<Key>(.*?)</Key>", body.decode())
            for key in map(unescape, keys):
                owner.requests.append(("DELETE", f"{bucket}/{key}", None))
                owner.objects.pop(f"{bucket}/{key}", None)
            gone = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
            self._xml(f"<DeleteResult {_NAMESPACE}>{gone}</DeleteResult>")

    def do_DELETE(self):  # noqa: N802
        owner = self.server.owner
        owner.requests.append(("DELETE", self.name, None))
        owner.objects.pop(self.name, None)
        self._send(204, b"", with_body=False)

    def _list(self):
        if self._bucket_is_missing():
            return
        owner, asked = self.server.owner, self.asked
        owner.requests.append(("LIST", self.name, None))
        bucket, prefix = self.name.rstrip("/") + "/", asked.get("prefix", "")
        after = asked.get("continuation-token") or asked.get("start-after", "")
        with owner.lock:
            found = dict(owner.objects)
        keys = sorted(
            path.removeprefix(bucket)
            for path in found
            if path.startswith(bucket + prefix) and path.removeprefix(bucket) > after
        )
        page, rest = keys[: owner.page], keys[owner.page :]
        entries = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(found[bucket + key])}</Size>"
            f"<ETag>{escape(self._etag(found[bucket + key]))}</ETag>"
            "<LastModified>2026-11-16T10:00:00.000Z</LastModified></Contents>"
            for key in page
        )
        more = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if rest else ""
        self._xml(
            f"<ListBucketResult {_NAMESPACE}><IsTruncated>{str(bool(rest)).lower()}</IsTruncated>"
            f"{entries}{more}</ListBucketResult>"
        )

    def _body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _bucket_is_missing(self):
        is_missing = self.name.split("/")[1] not in self.server.owner.buckets
        if is_missing:
            self._error(404, "NoSuchBucket")
        return is_missing

    def _error(self, status, code):
        self._send(status, f"<Error><Code>{code}</Code></Error>".encode(), with_body=True)

    def _xml(self, said):
        body = f'<?xml version="1.0" encoding="UTF-8"?>{said}'.encode()
        self._send(200, body, {"Content-Type": "application/xml"}, with_body=True)


class S3Server(RangeServer):
    """Buckets in memory: `objects` by "/bucket/key"."""

    handler = _S3Handler

    def __init__(self, objects=None, *, page=1000):
        self.page = page
        self.buckets = {"bucket"}
        self.uploads = {}  # that are not complete
        self.lock = threading.Lock()
        self.before_put = None  # called with the name of each object that is put
        self.refuses = None  # a code with which it refuses to write
        super().__init__(objects)

    def environment(self, endpoint=None):
        """The variables that a user would set."""
        return {
            "AWS_ENDPOINT_URL": endpoint or self.address,
            "AWS_ACCESS_KEY_ID": "tests",
            "AWS_SECRET_ACCESS_KEY": "tests",
            "AWS_REGION": "us-east-1",
        }

    def below(self, prefix):
        """The objects below an address without its scheme, by name."""
        start = f"/{prefix}/"
        return {
            path.removeprefix(start): content
            for path, content in self.objects.items()
            if path.startswith(start)
        }
