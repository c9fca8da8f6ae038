"""A store in this process that is late and narrow: no server, no network."""

import asyncio

import penstock as ps
from packing.samples import ListSource, image_file
from penstock.packing.items import LABEL, PackItem
from penstock.storage import remote_object
from penstock.storage.backend import Stat


class SlowStore:
    """Answers for every address with the same object, each time after `latency_s`."""

    def __init__(self, content, latency_s, bytes_per_s=1e9):
        self.content, self.latency_s, self.bytes_per_s = content, latency_s, bytes_per_s
        self.identity = "as it was made"

    def install(self, monkeypatch):
        """Let every object be read from here."""
        monkeypatch.setattr(remote_object, "open_backend", lambda *_: self)

    async def stat(self):
        return Stat(len(self.content), self.identity)

    async def last_bytes(self, count):
        begin = max(0, len(self.content) - count)
        return await self.read(begin, len(self.content), None), await self.stat()

    async def read(self, start, end, _):
        await asyncio.sleep(self.latency_s + (end - start) / self.bytes_per_s)
        return memoryview(self.content)[start:end]


def pack_photos(path, count, size=(64, 96)):
    """Pack so many small photos; returns the path."""
    items = [PackItem(f"{n}.jpg", image_file(n, size), {"label": n % 5}) for n in range(count)]
    ps.pack(ListSource(items, (LABEL,), classes=tuple("abcde")), path)
    return path
