"""How many cores may be used, and keeping to some of them."""

import os
import sys
import threading

import pytest
from PIL import Image

import penstock as ps
from penstock import usable_cores as cores_module
from penstock.usable_cores import describe_cores, pinned_to, usable_core_time, usable_cores

can_pin = pytest.mark.skipif(sys.platform != "linux", reason="the system cannot pin")
V1 = {"cpu.cfs_quota_us": "{quota}", "cpu.cfs_period_us": "100000"}


@pytest.fixture
def control_groups(tmp_path, monkeypatch):
    """Make a tree of control groups, and mount it as the system would."""

    def make(mounts, files, membership, cores=64):
        lines = ["22 1 0:20 / /proc rw - proc proc rw"]
        for name, (kind, root, options) in mounts.items():
            place = str(tmp_path / name).replace(" ", "\\040")
            lines.append(
                f"31 23 0:28 {root} {place} rw,relatime shared:9 - {kind} {kind} {options}"
            )
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(f"{text}\n")
        (tmp_path / "mountinfo").write_text("\n".join(lines) + "\n")
        (tmp_path / "membership").write_text(membership + "\n")
        monkeypatch.setattr(cores_module, "_MOUNTS", tmp_path / "mountinfo")
        monkeypatch.setattr(cores_module, "_MEMBERSHIP", tmp_path / "membership")
        monkeypatch.setattr(cores_module, "_cores_by_affinity", lambda: cores)
        monkeypatch.setattr(os, "cpu_count", lambda: cores)

    return make


UNIFIED = {"tree": ("cgroup2", "/", "rw")}
SEVERAL = {
    "memory": ("cgroup", "/", "rw,memory"),
    "cpu,cpuacct": ("cgroup", "/", "rw,cpu,cpuacct"),
    "unified": ("cgroup2", "/", "rw"),
}


@pytest.mark.parametrize(
    ("files", "membership", "quota"),
    [
        ({"tree/cpu.max": "max 100000"}, "0::/", None),
        ({"tree/cpu.max": "250000 100000"}, "0::/", 2.5),
        ({"tree/a/cpu.max": "max 100000", "tree/cpu.max": "400000 100000"}, "0::/a", 4),
        ({"tree/a/b/cpu.max": "300000 100000", "tree/a/cpu.max": "200000 100000"}, "0::/a/b", 2),
        ({"tree/cpu.max": "100000 100000"}, "0::/not/seen/here", 1),
        ({"tree/cpu.max": "100000 100000", "x/cpu.max": "1 100000"}, "0::/../x", 1),
        ({"tree/cpu.max": "nonsense"}, "0::/", None),
        ({"tree/cpu.max": "100000 0"}, "0::/", None),
        ({}, "", None),
    ],
)
def test_quotas_of_version_2(control_groups, files, membership, quota):
    control_groups(UNIFIED, files, membership)

    assert cores_module.core_quota() == quota


@pytest.mark.parametrize(
    ("files", "membership", "quota"),
    [
        ({"": 150000}, "2:cpu,cpuacct:/", 1.5),
        ({"": -1}, "2:cpu,cpuacct:/", None),
        ({"": -1, "a/b/": 300000, "a/": 200000}, "3:memory:/x\n2:cpuacct,cpu:/a/b\n0::/", 2),
        ({"": 400000}, "2:cpu,cpuacct:/docker/not-seen-here", 4),
        ({"": 400000}, "3:memory:/", None),
    ],
)
def test_quotas_of_version_1(control_groups, files, membership, quota):
    texts = {
        f"cpu,cpuacct/{group}{name}": text.format(quota=us)
        for group, us in files.items()
        for name, text in V1.items()
    }
    control_groups(SEVERAL, texts, membership)

    assert cores_module.core_quota() == quota


def test_a_part_of_the_hosts_tree_is_mounted(control_groups):
    """As docker does it with version 1: paths are the host's, folders the container's."""
    mounts = {"a tree": ("cgroup", "/docker/17", "rw,cpu")}
    texts = {f"a tree/own/{name}": text.format(quota=300000) for name, text in V1.items()}
    control_groups(mounts, texts, "2:cpu:/docker/17/own")

    assert cores_module.core_quota() == 3


@pytest.mark.parametrize(
    ("quota", "cores", "described"),
    [
        ("200000", 2, "2 (a quota of 2; the machine has 64)"),
        ("150000", 2, "2 (a quota of 1.5, rounded up; the machine has 64)"),
        ("20000", 1, "1 (a quota of 0.2, rounded up; the machine has 64)"),
        ("9900000", 64, "64"),
        ("max", 64, "64"),
    ],
)
def test_a_quota_limits_the_cores(control_groups, quota, cores, described):
    control_groups(UNIFIED, {"tree/cpu.max": f"{quota} 100000"}, "0::/")

    assert usable_cores() == cores
    assert describe_cores() == described
    assert usable_core_time() == (64 if cores == 64 else int(quota) / 100000)


def test_affinity_is_told(control_groups, monkeypatch):
    control_groups(UNIFIED, {}, "0::/", cores=4)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)

    assert describe_cores() == "4 (of 64, by affinity)"


def test_a_loader_in_a_container_starts_no_thread_too_many(control_groups, photo, tmp_path):
    control_groups(UNIFIED, {"tree/cpu.max": "200000 100000"}, "0::/")
    (tmp_path / "images").mkdir()
    Image.fromarray(photo).save(tmp_path / "images" / "0.jpg")

    assert (
        ps.Loader(tmp_path / "images", transform=ps.transforms.Resize((8, 8)), batch_size=1).threads
        == 2
    )


@can_pin
def test_all_that_a_quota_allows_needs_no_pinning(control_groups):
    control_groups(UNIFIED, {"tree/cpu.max": "100000 100000"}, "0::/")
    allowed = os.sched_getaffinity(0)
    with pinned_to(1):
        assert os.sched_getaffinity(0) == allowed


@can_pin
def test_threads_that_are_there_already_are_pinned_too():
    is_over = threading.Event()
    older = threading.Thread(target=is_over.wait)
    older.start()
    allowed = os.sched_getaffinity(0)
    try:
        with pinned_to(1):
            assert usable_cores() == 1
            assert len(os.sched_getaffinity(older.native_id)) == 1
        assert os.sched_getaffinity(older.native_id) == allowed
    finally:
        is_over.set()
        older.join()


@can_pin
def test_an_error_inside_gives_the_cores_back():
    allowed = os.sched_getaffinity(0)
    with pytest.raises(ValueError, match="inside"), pinned_to(1):
        raise ValueError("inside")

    assert os.sched_getaffinity(0) == allowed


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("AMD EPYC", "AMD EPYC (family 25, model 17)"),  # as some hosts hide it
        ("AMD EPYC 9654 96-Core Processor", "AMD EPYC 9654 96-Core Processor"),
    ],
)
def test_a_hidden_model_is_told_apart_by_its_numbers(tmp_path, monkeypatch, told, expected):
    core = f"processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: {told}\n"
    (tmp_path / "cpuinfo").write_text(f"{core}\n{core}", encoding="utf-8")
    monkeypatch.setattr(cores_module, "_CPU_INFO", tmp_path / "cpuinfo")
    assert cores_module.cpu_name() == expected
