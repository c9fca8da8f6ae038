"""Takes whole nodes away from `penstock.ray`, with what they have in memory.

A cluster of several nodes is imitated on this machine, by Ray's own means for that. While a loader
iterates over an epoch, nodes on which its workers run are removed without notice, and one is added.

    python -m soak.ray_nodes
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from pathlib import Path
from typing import Any

import penstock as ps
from soak.ray import arguments, checksum

SAMPLES = 6000  # of both ranks; the first one's are looked at
WORKERS = 2
REMOVED_AT = (20, 60)  # steps after which a node is taken away
STORE_BYTES = 150_000_000


def take_one_away(cluster: Any, nodes: list[Any], used: set[str]) -> None:
    """Remove a node on which a worker runs."""
    victim = next(node for node in nodes if node.node_id in used)
    nodes.remove(victim)
    cluster.remove_node(victim, allow_graceful=False)


def run(data: str) -> dict[str, Any]:
    """Compare an epoch with a Loader's; returns what happened."""
    import ray
    from ray.cluster_utils import Cluster

    from penstock.ray import RayLoader

    options = arguments(0, SAMPLES)
    local = ps.Loader(data, **options)
    wanted = [checksum(batch) for batch in local]
    local.close()
    store = {"object_store_memory": STORE_BYTES}
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **store}
    )
    nodes = [cluster.add_node(num_cpus=1, **store) for _ in range(WORKERS + 1)]
    ray.init(address=cluster.address, logging_level=logging.ERROR, log_to_driver=False)
    came = []
    try:
        with RayLoader(data, workers=WORKERS, **options) as loader:
            for step, batch in enumerate(loader):
                came.append(checksum(batch))
                if step in REMOVED_AT:
                    take_one_away(cluster, nodes, {worker.node for worker in loader.workers})
                    nodes.append(cluster.add_node(num_cpus=1, **store))
            metrics = loader.metrics
    finally:
        ray.shutdown()
        cluster.shutdown()
    return {
        "batches": len(came),
        "nodes_removed": len(REMOVED_AT),
        "recomputed": metrics.recomputed,
        "restarts": metrics.restarts,
        "same": came == wanted,
    }


def main() -> int:
    """Run it once."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # For the function among the transforms, which nodes must be able to import.
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
    with tempfile.TemporaryDirectory() as folder:
        result = run(str(ps.make_sample_set(f"{folder}/set", images=64, classes=4)))
    print(json.dumps(result))
    return 0 if result["same"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
