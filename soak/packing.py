"""The kinds of configurations that pack: killed, resumed, and two at a time on one target."""

from __future__ import annotations

import shutil
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path

from penstock import PenstockError, verify
from soak.children import PROMPT_S, Scene
from soak.loading import SIGNALS

KILLS = 3
REFUSED = 2  # the exit code of an error that the command line explains
# Exit codes that stand for a signal. Python itself says 1 if Ctrl-C comes before it has started.
INTERRUPTED = {signal.SIGINT: {130, 1}, signal.SIGTERM: {143}, signal.SIGKILL: set[int]()}
PACK_S = 0.9  # what a small pack takes, most of it to start Python
WRITE_S = 0.1  # what it takes once it writes; most kills fall into this time


def kill_pack(scene: Scene) -> None:
    """However often a pack is killed, `--resume` ends in the file of an undisturbed one."""
    arguments, target = pack_job(scene)
    for _ in range(scene.rng.randint(1, KILLS)):
        before = _written(target)
        child = scene.start_pack(*arguments, "--resume")
        if scene.rng.random() < 0.8:
            child.wait_until(partial(_has_changed, target, before))
            child.sleep(WRITE_S * scene.rng.random())
        else:
            child.sleep(PACK_S * scene.rng.random())
        sent = scene.rng.choice(SIGNALS)
        child.send(sent)
        ended = scene.judge(child.wait(PROMPT_S), sent=[sent])
        allowed = {0, -sent, *INTERRUPTED[sent]}
        scene.expect(ended.code in allowed, f"{sent.name} ended it with {ended.code}")
    finish(scene, arguments, target)


def two_packs(scene: Scene) -> None:
    """Of two packs on one target, one says why it stops; the file is right, whoever wrote it."""
    arguments, target = pack_job(scene)
    resume = scene.rng.choice([["--resume"], []])
    first = scene.start_pack(*arguments, *resume)
    if scene.rng.random() < 0.3:
        first.wait_until(partial(_has_changed, target, set()))
    first.sleep(scene.rng.choice([0.0, scene.rng.uniform(0, WRITE_S)]))
    second = scene.start_pack(*arguments, *resume)
    if scene.rng.random() < 0.3:
        second.sleep(scene.rng.uniform(0, PACK_S))
        scene.rng.choice([first, second]).send(signal.SIGKILL)
    codes = [scene.judge(child.wait(), sent=[signal.SIGKILL]).code for child in (first, second)]
    scene.expect(set(codes) <= {0, REFUSED, -signal.SIGKILL}, f"exit codes {codes}")
    if 0 in codes:
        check_same(scene, target, "the file that a pack called finished")
    finish(scene, arguments, target)


def pack_job(scene: Scene) -> tuple[list[str], Path]:
    """Choose what to pack, into a target that does not exist yet."""
    shards = scene.rng.random() < 0.4
    form = "shards" if shards else "packed"
    name = scene.rng.choice(["photos", "other", "maps", "coco"])
    scene.notes.append(f"{name}, {form}")
    whole = scene.data_sets[name].forms[form]
    target = scene.folder / whole.name
    root = whole.parent
    source = {"coco": root / "coco" / "instances.json", "maps": root / "maps" / "images"}
    arguments = [str(source.get(name, root / name)), str(target)]
    if name == "maps":
        arguments += ["--masks", str(root / "maps" / "masks")]
    if shards:
        arguments += ["--shards", str(len(list(whole.glob("*.pen"))))]
    arguments += ["--threads", str(scene.rng.randint(1, 3))]
    return arguments, target


def finish(scene: Scene, arguments: list[str], target: Path) -> None:
    """Resume undisturbed, and compare with the pack that was never interrupted."""
    if scene.failures:
        return
    ended = scene.judge(scene.start_pack(*arguments, "--resume").wait())
    if not scene.expect(ended.code == 0, f"resume ended with {ended.code}: {ended.errors}"):
        return
    if scene.plant == "damaged_pack":
        file = target if target.is_file() else max(target.glob("*.pen"))
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    check_same(scene, target, "the resumed file")
    left = [path.name for path in scene.folder.rglob("*") if _is_unfinished(path)]
    scene.expect(not left, f"left behind: {left}")


def check_same(scene: Scene, target: Path, what: str) -> None:
    """Fail unless a target is what an undisturbed pack of the same data gave."""
    form = "shards" if target.suffix == ".shards" else "packed"
    whole = next(d.forms[form] for d in scene.data_sets.values() if _has(d.forms, form, target))
    files = [whole] if whole.is_file() else sorted(p for p in whole.iterdir() if p.is_file())
    for file in files:
        ours = target if whole.is_file() else target / file.name
        if not ours.exists():
            scene.fail(f"{what}: there is no {ours.name}")
        elif ours.read_bytes() != file.read_bytes():
            scene.fail(f"{what}: {ours.name} differs from an undisturbed pack; {_verified(ours)}")
            shutil.copyfile(ours, scene.folder / f"{ours.name}.wrong")


def _has(forms: dict[str, Path], form: str, target: Path) -> bool:
    return form in forms and forms[form].name == target.name


def _verified(path: Path) -> str:
    try:
        problems = verify(path, progress=False).problems
    except PenstockError as error:
        return f"verify: {error}"
    return f"verify: {problems[0]}" if problems else "verify finds nothing"


def _has_changed(target: Path, before: set[tuple[str, int, int]]) -> bool:
    return _written(target) != before


def _written(target: Path) -> set[tuple[str, int, int]]:
    """Return what is there of a target, finished or not, and how it changes."""
    found = set()
    for path in [*target.parent.glob(f"{target.name}*"), *target.glob("*")]:
        with suppress(FileNotFoundError):  # renamed a moment ago
            status = path.stat()
            found.add((path.name, status.st_size, status.st_mtime_ns))
    return found


def _is_unfinished(path: Path) -> bool:
    # Not `.tmp` in the cache: a kill may leave one there, and a later scan removes it.
    return path.name.endswith((".partial", ".journal"))
