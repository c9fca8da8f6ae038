"""A Ray cluster on this machine, for all tests of this folder."""

import logging
import os
import shutil
import tempfile

import pytest

from servers.s3_server import S3Server


@pytest.fixture(scope="session")
def bucket_server():
    """A small server of buckets that all workers know of, as if their nodes had credentials."""
    with S3Server() as running:
        yield running


@pytest.fixture(scope="session")
def cluster(bucket_server):
    """Four CPUs by name; the paths of its sockets must be short."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["PYTHONPATH"] = os.path.dirname(os.path.dirname(__file__))  # for functions of tests
    folder = tempfile.mkdtemp(prefix="ps-ray-", dir="/tmp")
    with pytest.MonkeyPatch.context() as patch:  # workers have the environment of now
        for name, value in bucket_server.environment().items():
            patch.setenv(name, value)
        ray.init(
            num_cpus=4,
            include_dashboard=False,
            object_store_memory=200_000_000,
            _temp_dir=folder,
            logging_level=logging.ERROR,
            log_to_driver=False,
        )
    yield ray
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)
