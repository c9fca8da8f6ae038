"""A Ray cluster on this machine, for all tests of this folder."""

import logging
import os
import shutil
import tempfile

import pytest


@pytest.fixture(scope="session")
def cluster():
    """Four CPUs by name; the paths of its sockets must be short."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["PYTHONPATH"] = os.path.dirname(os.path.dirname(__file__))  # for functions of tests
    folder = tempfile.mkdtemp(prefix="ps-ray-", dir="/tmp")
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
