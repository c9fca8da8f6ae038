"""A request with an AWS signature (version 4), for what obstore has no function for: buckets."""

from __future__ import annotations

import hashlib
import hmac
import urllib.error
import urllib.request
from datetime import datetime, timezone
from urllib.parse import urlsplit

_REGION = "us-east-1"


def signed_request(method, endpoint, path, access_key, secret_key):
    """Send a request without a body; returns the status."""
    now = datetime.now(timezone.utc)
    time, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    nothing = hashlib.sha256(b"").hexdigest()
    headers = {
        "host": urlsplit(endpoint).netloc,
        "x-amz-content-sha256": nothing,
        "x-amz-date": time,
    }
    names = ";".join(sorted(headers))
    listed = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    canonical = f"{method}\n{path}\n\n{listed}\n{names}\n{nothing}"
    scope = f"{day}/{_REGION}/s3/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}"
    key = f"AWS4{secret_key}".encode()
    for word in (day, _REGION, "s3", "aws4_request", text):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={access_key}/{scope}, SignedHeaders={names}, "
        f"Signature={key.hex()}"
    )
    request = urllib.request.Request(endpoint + path, method=method, headers=headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
