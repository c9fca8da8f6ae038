"""A bad network on the way to a server: late, narrow, cut off, stalled, or answering 503.

It passes HTTP/1.1 requests on as they are, so signatures stay right. What befalls a request is
drawn from a seed, in the order in which requests arrive.

    python -m tests.servers.faulty_proxy --target 127.0.0.1:9000 --latency 0.05 --faults 0.01
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

_CHUNK = 1 << 18
KINDS = ("error", "slow_down", "reset", "stall", "truncate", "late_reset")
_LATE = ("truncate", "late_reset")
_STATUS = {"error": b"503 Service Unavailable", "slow_down": b"429 Too Many Requests"}


@dataclass
class Faults:
    """What goes wrong, in which share of requests; `latency_s` is a range, for all of them."""

    rate: float = 0.0
    kinds: tuple[str, ...] = KINDS
    latency_s: tuple[float, float] = (0.0, 0.0)
    bytes_per_s: float | None = None  # of all connections together
    seed: int = 0


class FaultyProxy:
    """Listens on a port of its own, on a thread of its own, until it is closed."""

    def __init__(self, target_port, faults=None, port=0):
        self.faults = faults or Faults()
        self.target_port = target_port
        self.counts = Counter()  # requests, bytes, and each kind of fault
        self._random = random.Random(self.faults.seed)
        self._tasks = set()
        self._free_at = 0.0  # when the narrow line is free again
        self._wanted_port = port
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(10)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def _run(self):
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._loop.run_forever()

    async def _start(self):
        self._server = await asyncio.start_server(
            self._connection, "127.0.0.1", self._wanted_port, limit=1 << 20, backlog=1024
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self._ready.set()

    def close(self):
        async def stop():
            self._server.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            self._loop.call_soon(self._loop.stop)

        asyncio.run_coroutine_threadsafe(stop(), self._loop)
        self._thread.join(10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    async def _connection(self, reader, writer):
        self._tasks.add(asyncio.current_task())  # nobody else keeps it
        upstream = None
        try:
            upstream = await asyncio.open_connection("127.0.0.1", self.target_port, limit=1 << 20)
            while await self._one_request(reader, writer, *upstream):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(asyncio.current_task())
            writer.transport.abort()
            if upstream is not None:
                upstream[1].transport.abort()

    async def _one_request(self, reader, writer, from_server, to_server):
        head = await reader.readuntil(b"\r\n\r\n")
        body_bytes = _length_of(head)
        body = await reader.readexactly(body_bytes) if body_bytes else b""
        self.counts["requests"] += 1
        kind = self._draw()
        if kind is not None:
            self.counts[kind] += 1
        await asyncio.sleep(self._random.uniform(*self.faults.latency_s))
        if kind == "reset":
            writer.transport.abort()
            return False
        if kind == "stall":
            await asyncio.sleep(3600)
        if kind in _STATUS:
            said = b"injected"
            writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n" % (_STATUS[kind], len(said)))
            writer.write(said)
            await writer.drain()
            return True
        to_server.write(head + body)
        await to_server.drain()
        answer = await from_server.readuntil(b"\r\n\r\n")
        has_body = not head.startswith(b"HEAD ") and b" 204 " not in answer.split(b"\r\n")[0]
        left = _length_of(answer) if has_body else 0
        writer.write(answer)
        if has_body and b"transfer-encoding: chunked" in answer.lower():
            return await self._pass_chunks(from_server, writer, cut=kind in _LATE)
        if kind in _LATE:
            await self._pass(from_server, writer, left // 2)
            if kind == "truncate":  # an orderly end, though more was promised
                writer.close()
                await writer.wait_closed()
            return False
        await self._pass(from_server, writer, left)
        return True

    async def _pass(self, from_server, writer, left):
        while left:
            chunk = await from_server.read(min(left, _CHUNK))
            if not chunk:
                raise asyncio.IncompleteReadError(b"", left)
            left -= len(chunk)
            self.counts["bytes"] += len(chunk)
            if self.faults.bytes_per_s is not None:
                self._free_at = max(self._free_at, time.monotonic())
                self._free_at += len(chunk) / self.faults.bytes_per_s
                if (wait := self._free_at - time.monotonic()) > 1e-3:
                    await asyncio.sleep(wait)
            writer.write(chunk)
            await writer.drain()

    async def _pass_chunks(self, from_server, writer, *, cut):
        """Pass an answer whose length is not known before its end; returns whether all came."""
        while True:
            line = await from_server.readuntil(b"\r\n")
            chunk = await from_server.readexactly(int(line.split(b";")[0], 16) + 2)
            self.counts["bytes"] += len(chunk) - 2
            if cut:
                writer.write(line + chunk[: len(chunk) // 2])
                await writer.drain()
                return False
            writer.write(line + chunk)
            await writer.drain()
            if len(chunk) == 2:
                return True

    def _draw(self):
        if self._random.random() >= self.faults.rate:
            return None
        return self._random.choice(self.faults.kinds)


def _length_of(head):
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="127.0.0.1:9000", help="HOST:PORT, on this machine")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, nargs=2, default=(0.0, 0.0))
    parser.add_argument("--faults", type=float, default=0.0, help="share of requests, 0 to 1")
    parser.add_argument("--bandwidth", type=float, default=None, help="bytes a second")
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    faults = Faults(told.faults, KINDS, tuple(told.latency), told.bandwidth, told.seed)
    with FaultyProxy(int(told.target.rpartition(":")[2]), faults, told.port) as proxy:
        print(proxy.port, flush=True)  # noqa: T201
        with suppress(KeyboardInterrupt, EOFError):
            while input() == "counts":
                print(json.dumps(dict(proxy.counts)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
