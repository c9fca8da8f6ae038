"""Threads, tasks and processes of a script, and what they leave for its end."""

from cli.run_cases.case import Case

POOL = """
import dataclasses, multiprocessing, os, sys

@dataclasses.dataclass
class Sample:
    index: int

def double(sample):
    return Sample(2 * sample.index)

print("imported as", __name__, os.path.basename(__file__), flush=True)
if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    with context.Pool(1) as pool:
        print(pool.map(double, [Sample(1), Sample(2)]))
    child = context.Process(target=sys.exit, args=(5,))
    child.start()
    child.join()
    print(child.exitcode)
"""
FAILING_CHILD = """
import multiprocessing
def fail():
    raise ValueError("in a child")
if __name__ == "__main__":
    child = multiprocessing.get_context("fork").Process(target=fail, name="child")
    child.start()
    child.join()
    raise SystemExit(child.exitcode)
"""
DATA = """
import sys
import torch
from torch.utils.data import DataLoader, Dataset
class Photos(Dataset):
    def __len__(self): return 12
    def __getitem__(self, index):
        if index == 7: raise ValueError("a damaged photo")
        return torch.full((3, 2, 2), index)
"""

CASES = {
    **{
        f"a pool of processes by {method}": POOL.format(method=method)
        for method in ("fork", "spawn", "forkserver")
    },
    "a pool of processes in a module": Case(
        start=("-m", "package.pool"),
        files={"package/__init__.py": "", "package/pool.py": POOL.format(method="spawn")},
    ),
    "a child that fails": FAILING_CHILD,
    "a child that is terminated": """
import multiprocessing, time
if __name__ == "__main__":
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    child.start()
    child.terminate()
    child.join()
    print(child.exitcode)
""",
    "a fork that exits": """
import atexit, os, sys
atexit.register(print, "exit function", flush=True)
child = os.fork()
if child == 0:
    sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""",
    "objects of its own classes": """
import copy, pickle
class Model:
    class Layer: pass
    def __init__(self): self.layer = Model.Layer()
saved = pickle.dumps(Model())
print(type(pickle.loads(saved)) is Model, type(copy.deepcopy(Model().layer)) is Model.Layer)
print(Model.__module__, Model.__qualname__, saved.count(b"__main__"))
""",
    "threads that outlive it": """
import atexit, threading
ended = threading.Event()
def work():
    ended.wait()
    print("thread", threading.current_thread().name, threading.main_thread().is_alive())
threading.Thread(target=work).start()
atexit.register(print, "exit function")
print("last line")
ended.set()
""",
    "a pool of threads that outlives it": """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
for number in range(3):
    pool.submit(print, number)
print(pool.submit(int, "3").result())
""",
    "a daemon thread": """
import sys, threading
started = threading.Event()
def work():
    started.set()
    threading.Event().wait()
threading.Thread(target=work, daemon=True).start()
started.wait()
sys.exit(2)
""",
    "a thread that fails": """
import threading
def work():
    raise ValueError("in a thread")
thread = threading.Thread(target=work, name="worker")
thread.start()
thread.join()
print("goes on")
""",
    "a thread that exits": """
import sys, threading
thread = threading.Thread(target=sys.exit, args=("unheard",))
thread.start()
thread.join()
print("goes on", thread.is_alive())
""",
    "a hook for threads": """
import threading
threading.excepthook = lambda failed: print(failed.exc_type, failed.exc_value, failed.thread.name)
thread = threading.Thread(target=lambda: 1 / 0, name="worker")
thread.start()
thread.join()
""",
    "the threads there are": """
import threading
print(threading.active_count(), threading.enumerate()[0].name, threading.current_thread().name)
print(threading.current_thread() is threading.main_thread())
""",
    "tasks": """
import asyncio
async def step(number):
    await asyncio.sleep(0)
    return number ** 2
async def train():
    print(await asyncio.gather(*map(step, range(4))))
    raise ValueError("in a task")
asyncio.run(train())
""",
    "tasks that are interrupted": """
import asyncio, os, signal
async def train():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)
    finally:
        print("cleaned up")
asyncio.run(train())
""",
    "a task that nobody waits for": """
import asyncio, logging
async def fail():
    raise ValueError("unheard")
async def train():
    asyncio.get_running_loop().create_task(fail(), name="failing")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
logging.basicConfig(format="%(message).60s")
asyncio.run(train())
""",
    "objects that fail when they are deleted": """
class Odd:
    def __del__(self):
        raise ValueError("on deletion")
    def __repr__(self):
        return "<odd>"
odd = Odd()
del odd
print("goes on")
""",
    "a hook for what cannot be raised": """
import sys
sys.unraisablehook = lambda seen: print(seen.exc_type.__name__, seen.exc_value, seen.object is None)
class Odd:
    def __del__(self):
        raise ValueError("on deletion")
Odd()
""",
    "what is deleted at the end": """
import sys
class Noted:
    def __init__(self, name): self.name = name
    def __del__(self, write=sys.stdout.write): write(f"deleted {self.name}\\n")
kept = Noted("kept")
_private = Noted("private")
sys.modules["__main__"].cycle = cycle = Noted("cycle")
cycle.self = cycle
sys.exit(1)
""",
    "a generator that is left open": """
def samples():
    try:
        yield 1
        yield 2
    finally:
        print("closed")
left = samples()
print(next(left))
""",
    "temporary files": """
import os, subprocess, sys, tempfile
folder = tempfile.TemporaryDirectory()
print(os.path.isdir(folder.name))
""",
    # Importing torch takes longer than all else here, so there are few of these.
    "loops that are left and loops that fail": Case(
        """
import os, signal, sys, threading, traceback
print([name for name in ("numpy", "torch", "PIL") if name in sys.modules])
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
"""
        + DATA
        + """
print(torch.get_num_threads(), len(os.listdir("/proc/self/task")))
loader = DataLoader(Photos(), 4)
for images in loader:
    break
print(signal.getsignal(signal.SIGINT), threading.active_count())
try:
    list(DataLoader(Photos(), 4))
except ValueError as error:
    print(len(traceback.extract_tb(error.__traceback__)), error)
    traceback.print_exc()
batches = iter(loader)
print(next(batches).shape, len(loader), type(batches), type(loader), isinstance(loader, DataLoader))
sys.stdout.flush()
child = os.fork()
if child == 0:
    sys.exit(3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) + 1)
""",
        needs="torch",
        python=(3, 11),
    ),
    "an error in a data set": Case(
        DATA + "for images in DataLoader(Photos(), 4):\n    print(len(images), flush=True)\n",
        needs="torch",
        python=(3, 11),
    ),
    "Ctrl-C in a loop": Case(
        DATA
        + """
import os, signal, time
for images in DataLoader(Photos(), 4):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
""",
        needs="torch",
    ),
    "a penstock Loader": Case(
        """
import sys
import penstock
from penstock.demo.sample_set import make_sample_set
folder = make_sample_set("photos", images=8, classes=2)
loader = penstock.Loader(folder, batch_size=2, output="numpy",
                         transform=penstock.transforms.CenterCrop(64))
print(sum(len(images) for images, labels in loader), loader, type(iter(loader)))
sys.exit(4)
"""
    ),
}
