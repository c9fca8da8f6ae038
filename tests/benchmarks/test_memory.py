import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.memory import Memory, memory_of_tree, tree_of, watch_peak

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux's /proc"
)
MEGABYTES = 1_000_000


def test_peak_takes_the_larger_of_each_figure():
    assert Memory(1, None).peak_with(Memory(None, 2)) == Memory(1, 2)
    assert Memory(3, 4, 1).peak_with(Memory(1, 5, 2)) == Memory(3, 5, 2)


def test_a_mapped_file_is_not_memory_of_its_own(tmp_path):
    file = tmp_path / "large"
    file.write_bytes(b"x" * 100 * MEGABYTES)
    code = (
        "import mmap, sys; f = open(sys.argv[1], 'rb'); m = mmap.mmap(f.fileno(), 0, prot=1); "
        "sum(m[::4096]); b = bytearray(b'x') * 50_000_000; print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        child.stdout.readline()
        found = memory_of_tree(child.pid)
        child.stdin.close()

    assert found.rss_bytes > 150 * MEGABYTES
    assert 50 * MEGABYTES < found.own_bytes < 100 * MEGABYTES


def test_tree_holds_children():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.pid in tree_of(os.getpid())
        child.stdin.close()


def test_process_that_is_gone_has_no_memory():
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()

    assert memory_of_tree(child.pid) == Memory()


def test_watching_sees_what_was_given_back():
    """The child touches its memory, frees it and only then says so: now it has none to show."""
    code = "import sys; b = bytearray(b'x') * 200_000_000; input(); del b; print(); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        while (memory_of_tree(child.pid).rss_bytes or 0) < 190 * MEGABYTES:
            assert child.poll() is None
        with watch_peak(child.pid) as peak:
            child.stdin.write("\n")
            child.stdin.flush()
            child.stdout.readline()
            after = memory_of_tree(child.pid)
        child.stdin.close()

    assert peak[0].rss_bytes > after.rss_bytes + 150 * MEGABYTES
