"""Each process takes its own share, and its own cores, without being told."""

import ast
import os
import subprocess
import sys
import types

import pytest

import penstock as ps
from penstock.errors import LoaderError
from penstock.loading import ranks as ranks_module
from penstock.loading.ranks import Ranks, find_ranks, find_threads
from penstock.transforms import Resize
from penstock.usable_cores import usable_cores


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def torch_says(monkeypatch):
    """Make torch.distributed say that this process is `rank` of `world_size`."""

    def say(rank, world_size):
        told = types.SimpleNamespace(
            is_available=lambda: True,
            is_initialized=lambda: True,
            get_rank=lambda: rank,
            get_world_size=lambda: world_size,
        )
        monkeypatch.setitem(sys.modules, "torch.distributed", told)

    return say


def found(rank=None, world_size=None):
    ranks = find_ranks(rank, world_size)
    return ranks.rank, ranks.world_size


def test_one_process_takes_everything():
    assert found() == (0, 1)


def test_the_variables_of_torchrun_are_asked(monkeypatch):
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")

    assert found() == (3, 4)
    assert found(0, 1) == (0, 1), "what is given wins"


def test_torch_is_asked(torch_says):
    torch_says(1, 2)
    assert found() == (1, 2)
    assert found(0, 4) == (0, 4), "a group of processes may be meant"


def test_contradictions_are_refused(monkeypatch, torch_says):
    torch_says(1, 2)
    with pytest.raises(LoaderError, match="says that this process is rank 1 of 2"):
        found(0, 2)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(LoaderError, match=r"rank 1 of 2, the variables .* rank 0 of 2"):
        found()


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"RANK": "1"}, "RANK=1, WORLD_SIZE=None"),
        ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK=2, WORLD_SIZE=2"),
        ({"RANK": "one", "WORLD_SIZE": "2"}, "RANK is 'one', not a whole number"),
    ],
)
def test_variables_that_make_no_sense_are_refused(monkeypatch, variables, message):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(LoaderError, match=message):
        found()


@pytest.mark.parametrize("given", [{"rank": 0}, {"world_size": 2}])
def test_one_number_alone_is_refused(given):
    with pytest.raises(LoaderError, match="Give both rank and world_size, or neither"):
        found(**given)


def make(folder, **options):
    return ps.Loader(folder, transform=Resize((8, 8)), batch_size=3, output="numpy", **options)


def test_a_loader_may_be_made_before_the_processes_know_of_each_other(folder, torch_says):
    loader = make(folder)
    assert len(loader) == 8
    torch_says(1, 2)

    assert len(loader) == 4
    assert sum(len(labels) for _, labels in loader) == 12
    assert "rank 1 of 2 (torch.distributed)" in repr(loader)


def test_a_state_may_be_loaded_before_the_processes_know_of_each_other(folder, torch_says):
    """What was consumed is counted over all ranks, however many there turn out to be."""
    saved = make(folder)
    next(iter(saved))
    state = {**saved.state_dict(), "consumed": 6}
    early = make(folder)
    early.load_state_dict(state)
    torch_says(1, 2)
    late = make(folder)
    late.load_state_dict(state)

    expected = [labels.tolist() for _, labels in late]
    assert [labels.tolist() for _, labels in early] == expected
    assert sum(map(len, expected)) == 12 - 3


def test_a_loader_that_has_begun_keeps_to_its_share(folder, torch_says):
    loader = make(folder)
    next(iter(loader))
    torch_says(1, 2)
    with pytest.raises(LoaderError, match=r"has begun as rank 0 of 1 .* now rank 1 of 2"):
        next(iter(loader))
    given = make(folder, rank=0, world_size=1)
    next(iter(given))


def test_an_environment_that_is_not_complete_may_become_so(folder, monkeypatch, torch_says):
    """Lightning tells its processes their number only when it sets torch.distributed up."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    loader = make(folder)
    with pytest.raises(LoaderError, match=r"RANK=None, WORLD_SIZE=2, .* not initialised"):
        next(iter(loader))
    torch_says(1, 2)

    assert sum(len(labels) for _, labels in loader) == 12


def test_repr_says_what_was_taken(folder, monkeypatch):
    assert "rank 0 of 1 (one process)" in repr(ps.Loader(folder))
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert "rank 1 of 2 (RANK, WORLD_SIZE)" in repr(ps.Loader(folder))


def test_threads_are_divided_among_the_processes_of_a_machine(monkeypatch):
    monkeypatch.setattr(ranks_module, "usable_cores", lambda: 8)
    two = Ranks(0, 2, "torch.distributed")
    assert find_threads(two) == 8, "how many of them are on this machine is not known"
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    assert find_threads(two) == 4
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    assert find_threads(two) == 2
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "16")
    assert find_threads(two) == 1


SCRIPT = """
import sys
from pathlib import Path
import torch.distributed as dist
import penstock as ps
from penstock import transforms as T

if sys.argv[2] == "initialised":
    dist.init_process_group("gloo")
files = sorted(Path(sys.argv[1]).rglob("*.jpg"))
loader = ps.Loader(
    files, labels=range(len(files)), transform=T.Resize((8, 8)), batch_size=2, shuffle=True
)
seen = [int(label) for _, labels in loader for label in labels]
print(f"\\nSEEN {loader.threads} {seen}", flush=True)
if dist.is_initialized():
    dist.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.parametrize("state", ["initialised", "not-initialised"])
def test_two_ranks_under_torchrun_share_the_data(tmp_path, make_folder, state):
    """Disjoint halves, together everything, without an argument; each with its share of cores."""
    pytest.importorskip("torch.distributed.run")
    folder = make_folder(images=10)
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    run = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]

    done = subprocess.run(
        [*run, str(script), str(folder), state],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    lines = [line.split(" ", 2) for line in done.stdout.splitlines() if line.startswith("SEEN")]
    halves = [set(ast.literal_eval(seen)) for *_, seen in lines]
    assert [len(half) for half in halves] == [5, 5]
    assert halves[0] | halves[1] == set(range(10))
    assert {int(threads) for _, threads, _ in lines} == {max(1, usable_cores() // 2)}
