import numpy as np
import pytest

from servers.faulty_proxy import FaultyProxy
from servers.range_server import RangeServer


@pytest.fixture
def content():
    return np.random.default_rng(0).bytes(3_000_000)


@pytest.fixture
def server(content):
    with RangeServer({"/bucket/train.pen": content}) as running:
        yield running


@pytest.fixture
def behind_proxy(server):
    """Start proxies before the server; they end with the test."""
    proxies = []

    def start(faults):
        proxies.append(FaultyProxy(server.port, faults))
        return proxies[-1]

    yield start
    for proxy in proxies:
        proxy.close()
