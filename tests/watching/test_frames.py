"""What a thread is doing is told from its stack; stacks of many libraries, made up."""

import functools
import os
import sys
from types import SimpleNamespace

import pytest

from penstock.watching.frames import Doing, FrameReader, Stage

SITE = "/env/lib/python3.11/site-packages"
WORKER = (f"{SITE}/torch/utils/data/_utils/worker.py", "_worker_loop")
FETCH = (f"{SITE}/torch/utils/data/_utils/fetch.py", "fetch")
GETITEM = ("/home/me/train.py", "__getitem__")
CALL = (f"{SITE}/torch/nn/modules/module.py", "_call_impl")
COMPOSE_V2 = (f"{SITE}/torchvision/transforms/v2/_container.py", "forward")
V1 = f"{SITE}/torchvision/transforms/transforms.py"
V2_MISC = f"{SITE}/torchvision/transforms/v2/_misc.py"
PIL = f"{SITE}/PIL"
STANDARD = os.path.dirname(os.__file__)


class Compose:
    pass


class GaussianBlur:
    pass


class Fetcher:
    def __init__(self, collate_fn):
        self.collate_fn = collate_fn


def made_function(file, name, *, has_self, body="inner[0](*inner[1:])"):
    """A function of any name, as if it stood in any file."""
    parameters = "self, *inner" if has_self else "*inner"
    space = dict.fromkeys(("cv2", "open", "slow"))
    exec(compile(f"def {name}({parameters}):\n    return {body}", file, "exec"), space)  # noqa: S102
    return space[name]


def frame_inside(*calls):
    """The innermost frame of a stack: each call is a file, a function's name, and maybe a self."""
    functions = []
    for file, name, *owner in calls:
        function = made_function(file, name, has_self=bool(owner))
        functions.append(functools.partial(function, *owner) if owner else function)
    return functions[0](*functions[1:], lambda: sys._getframe(1))


def read(*calls):
    return FrameReader("/home/me").read(frame_inside(*calls))


@pytest.mark.parametrize(
    ("calls", "doing"),
    [
        ([WORKER, FETCH, GETITEM], Doing(Stage.OWN, "__getitem__", "train.py:2")),
        ([WORKER], Doing(Stage.IDLE)),
        ([WORKER, (f"{STANDARD}/multiprocessing/queues.py", "get")], Doing(Stage.IDLE)),
        ([WORKER, (f"{STANDARD}/multiprocessing/queues.py", "put")], Doing(Stage.HAND_OVER)),
        (
            [
                WORKER,
                FETCH,
                GETITEM,
                (f"{PIL}/Image.py", "convert"),
                (f"{PIL}/ImageFile.py", "load"),
            ],
            Doing(Stage.DECODE, "", "train.py:2"),
        ),
        (
            [WORKER, FETCH, GETITEM, (f"{PIL}/Image.py", "resize")],
            Doing(Stage.OP, "Image.resize", "train.py:2"),
        ),
        (
            [
                WORKER,
                FETCH,
                GETITEM,
                (f"{STANDARD}/urllib/request.py", "urlopen"),
                (f"{STANDARD}/socket.py", "readinto"),
            ],
            Doing(Stage.READ, "urllib", "train.py:2"),
        ),
        (
            [
                WORKER,
                FETCH,
                GETITEM,
                (f"{PIL}/ImageFile.py", "load"),
                (f"{SITE}/fsspec/spec.py", "read"),
            ],
            Doing(Stage.READ, "fsspec", "train.py:2"),
        ),
        (
            [WORKER, FETCH, (f"{SITE}/torch/utils/data/_utils/collate.py", "default_collate")],
            Doing(Stage.COLLATE, "NoneType"),
        ),
    ],
)
def test_parts_of_loading(calls, doing):
    assert read(*calls) == doing


@pytest.mark.parametrize(
    "calls",
    [
        [COMPOSE_V2, CALL, (V2_MISC, "forward", GaussianBlur()), (f"{PIL}/Image.py", "filter")],
        [(V1, "__call__", Compose()), CALL, (V1, "forward", GaussianBlur())],
        [
            (f"{SITE}/albumentations/core/composition.py", "__call__", Compose()),
            (f"{SITE}/albumentations/core/transforms_interface.py", "__call__", GaussianBlur()),
        ],
        [COMPOSE_V2, CALL, ("/home/me/ops.py", "__call__", GaussianBlur())],
        [(V1, "__call__", Compose()), ("/home/me/ops.py", "GaussianBlur")],
    ],
)
def test_the_op_is_named_whosever_it_is(calls):
    doing = read(WORKER, FETCH, GETITEM, *calls)

    assert (doing.stage, doing.name) == (Stage.OP, "GaussianBlur")


def test_a_container_that_does_nothing_but_call_is_no_op():
    assert read(WORKER, FETCH, GETITEM, COMPOSE_V2).stage is Stage.OWN


def test_an_image_decoded_late_is_decoding_and_no_op():
    calls = (V2_MISC, "forward", GaussianBlur()), (f"{PIL}/ImageFile.py", "load")

    assert read(WORKER, FETCH, GETITEM, COMPOSE_V2, *calls).stage is Stage.DECODE


def collated(collate, *inner):
    """What is said of a stack in which torch's fetcher calls a collate function."""
    fetch = made_function(*FETCH, has_self=True)
    frame = made_function(*WORKER, has_self=False)(
        fetch, Fetcher(collate), collate, *inner, lambda: sys._getframe(1)
    )
    return FrameReader("/home/me").read(frame)


def test_a_collate_function_of_the_user_is_named():
    collate = made_function("/home/me/train.py", "pad_and_stack", has_self=False)

    assert collated(collate) == Doing(Stage.COLLATE, "pad_and_stack", "train.py:2")


def test_a_collate_function_with_arguments_bound_is_found():
    pad = made_function("/home/me/train.py", "pad", has_self=False)

    assert collated(functools.partial(pad)).name == "pad"


def test_decoding_inside_a_collate_function_is_decoding():
    collate = made_function("/home/me/train.py", "read_all", has_self=False)
    load = made_function(f"{PIL}/ImageFile.py", "load", has_self=False)

    assert collated(collate, load).stage is Stage.DECODE


def test_the_step_is_what_is_not_loading():
    assert read(("/home/me/train.py", "main")) == Doing(Stage.STEP)
    assert FrameReader("/home/me").read(None) == Doing(Stage.STEP)


def test_copying_to_a_device_is_told_from_the_step():
    lightning = f"{SITE}/lightning/fabric/utilities/apply_func.py"

    assert read(("/home/me/train.py", "main"), (lightning, "move_data_to_device")) == Doing(
        Stage.COPY, "", "train.py:2"
    )


@pytest.mark.parametrize(
    ("line", "doing"),
    [
        ("image = cv2.imread(path)", (Stage.DECODE, "")),
        ("image = cv2.GaussianBlur(path, (31, 31), 8)", (Stage.OWN, "cv2.GaussianBlur")),
        ("content = open(path).read()", (Stage.READ, "files")),
        ("slow(path)", (Stage.OWN, "__getitem__")),
    ],
)
def test_a_function_in_c_is_told_by_the_line_that_calls_it(tmp_path, line, doing):
    """Such a function has no frame of its own."""
    file = tmp_path / "train.py"
    text = f"def __getitem__(path):\n    {line}\n"
    file.write_text(text)
    space = {}
    exec(compile(text, str(file), "exec"), space)  # noqa: S102
    seen = []

    def probe(*_):
        seen.append(FrameReader(str(tmp_path)).read(sys._getframe(1)))
        raise InterruptedError

    space["cv2"] = SimpleNamespace(imread=probe, GaussianBlur=probe)
    space["open"] = lambda _: SimpleNamespace(read=probe)
    space["slow"] = probe
    with pytest.raises(InterruptedError):
        made_function(*WORKER, has_self=False)(space["__getitem__"], "a.jpg")
    assert (seen[0].stage, seen[0].name) == doing
    assert seen[0].place == "train.py:2"


def test_the_loops_own_next_is_where_loading_begins():
    reader = FrameReader("/home/me")
    ask = made_function("/home/me/loop.py", "ask", has_self=False)
    load = made_function(f"{PIL}/ImageFile.py", "load", has_self=False)
    reader.mark_next(ask.__code__)

    assert reader.read(ask(load, lambda: sys._getframe(1))).stage is Stage.DECODE
    assert reader.read(load(lambda: sys._getframe(1))).stage is Stage.STEP


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells lines only, not expressions")
def test_of_several_calls_on_a_line_the_one_under_way_is_named(tmp_path):
    file = tmp_path / "train.py"
    text = "def __getitem__(wait):\n    wait(); return torch.zeros(3)\n"
    file.write_text(text)
    space = {}
    exec(compile(text, str(file), "exec"), space)  # noqa: S102
    seen = []

    def wait():
        seen.append(FrameReader(str(tmp_path)).read(sys._getframe(1)))
        raise InterruptedError

    with pytest.raises(InterruptedError):
        made_function(*WORKER, has_self=False)(space["__getitem__"], wait)
    assert seen[0].name == "__getitem__"
