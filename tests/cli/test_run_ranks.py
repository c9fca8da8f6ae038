"""`penstock run` with torchrun: every rank is watched, and one speaks for all."""

import json
import os
import subprocess
import sys
from io import StringIO

import pytest

from penstock.cli.in_script.sitecustomize import own_command
from penstock.cli.run_ranks import find_rank, hand_in, judge_loaders, print_together
from script_runs import command
from scripts_environment import environment_for

VARIABLES = {"RANK": "5", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "WORLD_SIZE": "8"}
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
SCRIPT = """
import os, time, torch, torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __len__(self): return 24
    def __getitem__(self, i):
        time.sleep(0.02 if os.environ["RANK"] == "1" else 0.0)
        return torch.zeros(3, 8, 8)

dist.init_process_group("gloo")
for images in DataLoader(Images(), batch_size=2):
    dist.all_reduce(torch.ones(1))
dist.destroy_process_group()
"""


def result(rank, wait_s, **changes):
    loader = {
        "where": "train.py:12",
        "verdict": "input-bound",
        "sentence": f"Sentence of {rank}.",
        "later_images_per_s": 50.0,
        "later_waited_share": wait_s / 0.1,
        "steps": 40,
        "mean_step": {"steps": 39, "wait_s": wait_s, "compute_s": 0.1 - wait_s},
        "described": "DataLoader()",
        "inside_lines": [f"  inside {rank}"],
        "next": None,
    }
    return {
        "script": "train.py",
        "arguments": [],
        "ended": "ended",
        "exit_code": None,
        "ending": "ended",
        "seconds": 3.0,
        "rank": rank,
        "loaders": [loader],
    } | changes


@pytest.fixture
def ranks(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("penstock.cli.run_ranks._PATIENCE_S", 0.0)
    return [find_rank(VARIABLES | {"LOCAL_RANK": f"{local}"}) for local in range(2)]


def test_rank_is_found_among_those_of_the_machine():
    rank = find_rank(VARIABLES)

    assert (rank.number, rank.local, rank.local_size, rank.size) == (5, 1, 2, 8)
    assert find_rank(VARIABLES, "run").folder != rank.folder
    assert find_rank(VARIABLES | {"TORCHELASTIC_RESTART_COUNT": "1"}).folder != rank.folder


@pytest.mark.parametrize("changes", [{"LOCAL_WORLD_SIZE": "1"}, {"RANK": "x"}])
def test_a_process_alone_has_no_rank(changes):
    assert find_rank(VARIABLES | changes) is None
    assert find_rank({}) is None


def test_the_last_rank_speaks_for_all(ranks):
    assert hand_in(ranks[1], result(1, 0.01)) is None
    found = hand_in(ranks[0], result(0, 0.01))

    assert [one["rank"] for one in found] == [0, 1]
    assert not os.path.exists(ranks[0].folder)


def test_the_first_rank_speaks_if_another_never_ends(ranks):
    assert [one["rank"] for one in hand_in(ranks[0], result(0, 0.01))] == [0]
    assert hand_in(ranks[1], result(1, 0.01)) is None  # it ends after all, and tidies up
    assert not os.path.exists(ranks[0].folder)


def test_only_one_rank_speaks(ranks, monkeypatch):
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)

    assert hand_in(ranks[1], result(1, 0.01)) is None
    assert hand_in(ranks[0], result(0, 0.01)) is not None
    assert hand_in(ranks[1], result(1, 0.01)) is None


def test_straggler_is_named_with_its_figures(ranks):
    out = StringIO()
    print_together([result(0, 0.001), result(1, 0.08, ending="crashed")], ranks[0], out)

    assert "rank 0 ended, rank 1 crashed after 3.0 s" in out.getvalue()
    assert "of 8 in all" in out.getvalue()
    assert "1 *" in out.getvalue()
    assert "Rank 1 is the straggler: it waits 80.0 ms per step" in out.getvalue()
    assert "inside 1" in out.getvalue()
    assert "inside 0" not in out.getvalue()


def test_ranks_that_say_nothing_are_counted(ranks):
    out = StringIO()
    print_together([result(0, 0.001, loaders=[])], ranks[0], out)

    assert "1 of 2 ranks said nothing" in out.getvalue()
    assert "no DataLoader" in out.getvalue()


def test_loaders_are_matched_by_their_line():
    other = result(1, 0.01)
    other["loaders"] += [other["loaders"][0] | {"where": "train.py:30"}]
    judged = judge_loaders([result(0, 0.01), other])

    assert [len(loaders) for _, loaders in judged] == [2, 1]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["python", "-u", "/x/train.py", "--a"], ("/x/train.py", "", "1", "/x")),
        (["python", "-um", "train", "1", "2"], ("train", "yes", "2", None)),
        (["python", "-X", "dev", "-W", "error", "-m", "train"], ("train", "yes", "0", None)),
        (["python", "-c", "pass"], None),
        (["python"], None),
    ],
)
def test_script_of_a_rank(arguments, found):
    own = own_command(arguments)
    if found is None:
        assert own is None
    else:
        folder = found[3] or os.getcwd()
        assert list(own.values()) == [*found[:3], folder]


@pytest.mark.parametrize("way", ["penstock first", "torchrun first"])
def test_two_ranks(write, tmp_path, way):
    pytest.importorskip("torch")
    script = write(SCRIPT)
    run = command("--json", tmp_path / "found.json", "--trace", tmp_path / "trace.json")
    if way == "penstock first":
        typed = [*run, *TORCHRUN, script]
    else:
        typed = [sys.executable, *TORCHRUN, "-m", "penstock", *run[run.index("run") :], script]
    done = subprocess.run(
        [str(part) for part in typed],
        cwd=tmp_path,
        env=environment_for(script),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("penstock: 2 ranks ended") == 1
    found = json.loads((tmp_path / "found.json").read_text())
    assert [one["rank"] for one in found["ranks"]] == [0, 1]
    assert [one["loaders"][0]["steps"] for one in found["ranks"]] == [12, 12]
    assert found["together"][0]["straggler"] == 1
    assert "Rank 1 is the straggler" in done.stderr
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert {"rank 0", "rank 1"} <= names
    assert sum(event["name"] == "step" for event in events) == 24
    assert "trace" not in found["ranks"][0]
