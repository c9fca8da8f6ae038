"""`penstock run`: however a script ends, the verdict comes last, and the end is the script's."""

import json
import os
import signal
import sys
import time

import pytest

from script_runs import LOOP, run, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent another way")

WORKERS = """
import signal, sys, time
import torch
from torch.utils.data import DataLoader, Dataset

class Photos(Dataset):
    def __len__(self): return 800
    def __getitem__(self, index): return torch.zeros(3, 4, 4)

{before}
loader = DataLoader(Photos(), batch_size=4, num_workers=2, persistent_workers=True)
for number, images in enumerate(loader):
    if number == 20:
        print("ready", *[worker.pid for worker in loader._iterator._workers], flush=True)
        time.sleep(600)
"""


def signalled(script, number, found, *, whole_group=True):
    """Send a signal once the script is ready; return its process, output, and its workers."""
    process = start(script, "--json", found)
    with process:
        ready, *workers = process.stdout.readline().split()
        assert ready == "ready"
        time.sleep(0.1)  # lets it fall asleep; if it has not, the signal comes a little earlier
        (os.killpg if whole_group else os.kill)(process.pid, number)
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err, [int(worker) for worker in workers]


def has_ended(process):
    """Whether a process is gone within a while: torch's workers look for their parent at times."""
    for _ in range(600):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_exit_at_once(write):
    done = run(write(LOOP.format(body="if number == 7: print('last', flush=True); os._exit(4)")))

    assert done.returncode == 4
    assert done.stdout == "last\n"
    assert "the script exited with code 4" in done.stderr
    assert done.stderr.count("penstock:") == 1


@pytest.mark.parametrize("whole_group", [True, False])
@pytest.mark.parametrize(
    ("number", "told"),
    [
        (signal.SIGINT, ("KeyboardInterrupt", "the script was interrupted after")),
        (signal.SIGTERM, ("the script was terminated after",)),
    ],
)
def test_signals_end_with_a_verdict(write, tmp_path, number, told, whole_group):
    """Dying workers make torch raise an error, which must not come between."""
    code, _, err, workers = signalled(
        write(WORKERS.format(before="")),
        number,
        tmp_path / "found.json",
        whole_group=whole_group,
    )
    found = json.loads((tmp_path / "found.json").read_text())

    assert code == -number
    assert all(sentence in err for sentence in told)
    assert (found["exit_code"], found["loaders"][0]["steps"]) == (128 + number, 21)
    assert all(map(has_ended, workers))


OWN_HANDLER = """
earlier = signal.getsignal(signal.SIGTERM)
def handle(number, frame):
    if callable(earlier):
        earlier(number, frame)
    print("its own handler")
    sys.exit(7)
signal.signal(signal.SIGTERM, handle)
"""


def test_a_handler_of_the_script_stays_in_charge(write, tmp_path):
    """Also one that passes the signal on to the handler it found, as Lightning's does."""
    code, out, err, _ = signalled(
        write(WORKERS.format(before=OWN_HANDLER)),
        signal.SIGTERM,
        tmp_path / "found.json",
        whole_group=False,
    )

    assert (code, out) == (7, "its own handler\n")
    assert "the script ended after" in err


def test_a_child_that_is_ended_at_its_beginning_says_nothing(write):
    script = write(
        "import multiprocessing, time\n"
        "child = multiprocessing.get_context('fork').Process(target=time.sleep, args=(600,))\n"
        "child.start()\n"
        "child.terminate()\n"
        "child.join()\n"
        "print(child.exitcode)\n"
    )
    done = run(script)

    assert done.stdout == "-15\n"
    assert done.stderr.count("penstock:") == 1


def test_threads_and_exit_functions_come_before_the_verdict(write):
    """Threads outlive the last line of a script; a pool waits for Python's exit to be ended."""
    script = write(
        "import atexit, sys, threading\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "import torch\n"
        "from torch.utils.data import DataLoader\n"
        "main_has_ended = threading.Event()\n"
        "def loop():\n"
        "    main_has_ended.wait()\n"
        "    batches = list(DataLoader(range(12), batch_size=2))\n"
        "    print(f'{len(batches)} {sys.argv[1:]}\\n', end='')\n"
        "threading.Thread(target=loop).start()\n"
        "ThreadPoolExecutor(1).submit(loop)\n"
        "atexit.register(print, 'exit function')\n"
        "main_has_ended.set()\n"
    )
    done = run(script, "argument")

    assert done.stdout == "6 ['argument']\n6 ['argument']\nexit function\n"
    assert done.stderr.count("DataLoader(range, 12 samples") in {1, 2}  # one, if not at once
    assert "the script ended" in done.stderr


def test_a_result_that_cannot_be_written_is_said(write, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    script = write("import os, sys\nos.rmdir('results')\nsys.exit(5)\n")
    done = run(script, options=["--json", folder / "found.json"])

    assert done.returncode == 5
    assert "penstock: cannot write" in done.stderr
