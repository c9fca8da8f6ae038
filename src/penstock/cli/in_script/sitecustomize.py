"""Python imports this before a script that `penstock run` started: it sets up the watching.

The script must not notice. So this uses only what is built into the interpreter; the rest of
penstock is imported after the first library that has a loader. Then a `sitecustomize` of the
user's own gets its turn, if there is one.
"""

import atexit
import os
import sys
import time

TYPES = False  # as typing.TYPE_CHECKING, without importing typing
if TYPES:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import TextIO

    from penstock.cli.run import WatchedScript

PREFIX = "PENSTOCK_RUN_"
LIBRARIES = (
    "torch.utils.data.dataloader",
    "penstock.loading.loader",
    "penstock.torch.data_loader",
    "penstock.translation.delivery",  # what `accelerate` returns
)


class Script:
    """The script that is about to run. As a finder of modules, it sees a library being imported."""

    def __init__(self, asked: "dict[str, str]") -> None:
        self._asked = asked
        self._started_s = time.perf_counter()
        self._process = os.getpid()
        self._path = list(sys.path)
        self._watched: WatchedScript | None = None
        self._trouble: Exception | None = None

    def begin(self) -> None:
        """Wait for libraries, and for the end: made first, our exit function is called last."""
        atexit.register(self._end)
        sys.meta_path.insert(0, self)  # has what a finder needs; the base class would be an import
        for name in LIBRARIES:
            if name in sys.modules:  # some file of the installation imports it for every script
                self._watch(sys.modules[name])

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Leave the finding to others, and have the module's own loader tell when it is done."""
        if name not in LIBRARIES:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    self._follow(spec)
                    return spec
        return None

    def _follow(self, spec: "ModuleSpec") -> None:
        loader = spec.loader
        execute = getattr(loader, "exec_module", None)
        if loader is None or execute is None:
            return

        def exec_module(module: "ModuleType") -> None:
            del loader.exec_module  # that of its class is there again
            try:
                execute(module)
            except BaseException as error:
                error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
                raise  # without a line of ours in the traceback
            self._watch(module)

        loader.exec_module = exec_module  # type: ignore[method-assign]

    def _watch(self, module: "ModuleType") -> None:
        try:
            if self._watched is None:
                from penstock.cli.run import WatchedScript

                self._watched = WatchedScript(self._asked, self._started_s)
            self._watched.watch(module)
        except Exception as error:  # noqa: BLE001 (the script goes on, whatever fails here)
            self._trouble = error

    def _end(self) -> None:
        """Say what was seen, unless this is a child of the script's process."""
        if self._process != os.getpid() or sys.argv[:1] == ["-m"]:  # or there is no such module
            return
        ended = how_it_ended()
        scripts, sys.path[:] = list(sys.path), self._path  # no module of the script's by mistake
        try:
            if self._watched is None and (self._asked["JSON"] or "LOCAL_RANK" in os.environ):
                from penstock.cli.run import WatchedScript

                self._watched = WatchedScript(self._asked, self._started_s)
            if self._watched is not None:
                self._watched.end(ended)
                if ended == "interrupted":
                    remember_interruption()
            else:
                seconds = time.perf_counter() - self._started_s
                was = "was " if ended == "interrupted" else ""
                print_last(f"\npenstock: the script {was}{ended} after {seconds:,.1f} s\n")
        except Exception as error:  # noqa: BLE001 (the script ends as it would, whatever fails here)
            self._trouble = error
        finally:
            sys.path[:] = scripts
        if self._trouble is not None:
            kind = type(self._trouble).__name__
            print_last(f"penstock: loaders could not be watched: {kind}: {self._trouble}\n")
        elif self._watched is None:
            print_last("It iterated over no DataLoader and no penstock Loader in this process.\n")


def how_it_ended() -> str:
    """Return what Python notes of an error that nobody caught; an exit code it tells to nobody."""
    kind = getattr(sys, "last_type", None)
    if kind is None:
        return "ended"
    return "interrupted" if issubclass(kind, KeyboardInterrupt) else "crashed"


def remember_interruption() -> None:
    """Have Python end by SIGINT, which it forgets when anybody, as our imports, calls `exec`."""
    try:
        exec("raise KeyboardInterrupt")  # noqa: S102 (nothing else tells Python)
    except KeyboardInterrupt:
        return


def own_stderr() -> "TextIO | None":
    """Open stderr again, where the script has not closed it.

    What stays behind in Python's own buffer because nobody reads it would change the exit code.
    """
    try:
        encoding = sys.__stderr__.encoding if sys.__stderr__ else "utf-8"
        number = sys.__stderr__.fileno() if sys.__stderr__ else -1
        return open(number, "w", encoding=encoding, errors="backslashreplace", closefd=False)
    except (OSError, ValueError):
        return None


def print_last(text: str) -> None:
    """Write to stderr, if anybody reads it."""
    stderr = own_stderr()
    if stderr is not None:
        try:
            with stderr:
                stderr.write(text)
        except OSError:
            return


def own_command(arguments: "Sequence[str]") -> "dict[str, str] | None":
    """Return which script this Python was started with; None for code of the command line."""
    rest = list(arguments[1:])
    is_module = False
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        if option in {"-W", "-X", "--check-hash-based-pycs"} and rest:
            rest.pop(0)
        elif not option.startswith("--") and option.endswith("c"):
            return None
        elif not option.startswith("--") and option.endswith("m"):
            is_module = True
            break
    if not rest:
        return None
    script, *own = rest
    is_file = not is_module and script != "-"
    return {
        "SCRIPT": script,
        "IS_MODULE": "yes" if is_module else "",
        "COUNT": str(len(own)),
        "FOLDER": os.path.dirname(os.path.realpath(script)) if is_file else os.getcwd(),
    }


def begin() -> None:
    """Take our folder and variables away again, and wait for the script.

    torchrun keeps them for the processes that it starts: each of these has a rank.
    """
    starts_ranks = PREFIX + "RANKS_OF" in os.environ and "LOCAL_RANK" not in os.environ
    asked = {
        name.removeprefix(PREFIX): os.environ[name] if starts_ranks else os.environ.pop(name)
        for name in list(os.environ)
        if name.startswith(PREFIX)
    }
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != folder]
    sys.path_importer_cache.pop(folder, None)
    sys.modules.pop("sitecustomize", None)
    if not asked or starts_ranks:
        return
    if "PYTHONPATH" in asked:
        os.environ["PYTHONPATH"] = asked["PYTHONPATH"]
    else:
        del os.environ["PYTHONPATH"]
    if "RANKS_OF" in asked:
        own = own_command(sys.orig_argv)
        if own is None:
            return
        asked.update(own)
    Script(asked).begin()


if __name__ == "sitecustomize":
    begin()
    # Not this one, but the user's. Where there is none, Python expects the error.
    import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
