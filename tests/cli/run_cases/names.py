"""What a script is called, where it lies, and what Python's variables say about it."""

import marshal
from importlib.util import MAGIC_NUMBER

from cli.run_cases.case import Case

ODD_ARGUMENTS = ("--json", "x", "-m", "--help", "--", "", "a b", "-1", "--x=é", "*", "@file")
WHERE = """
import os, sys
main = sys.modules["__main__"]
folder = os.getcwd()
print(__name__, __file__, __package__, __spec__ and (__spec__.name, __spec__.origin))
print(main.__dict__ is globals(), __cached__ and os.path.basename(__cached__))
print(type(__loader__), getattr(__loader__, "name", None), getattr(__loader__, "path", None))
print(sys.argv, sys.path, sys.orig_argv[1:])
print(sorted(globals()))
"""
PACKAGE = {
    "package/__init__.py": "print('package', __name__)\n",
    "package/__main__.py": "from package import steps\nprint(__name__, steps.NUMBER)\n" + WHERE,
    "package/steps.py": "NUMBER = 3\nif __name__ == '__main__':\n    print('as main')\n",
    "package/train.py": "from . import steps\nprint(steps.NUMBER)\n" + WHERE,
    "package/fails.py": "def fail():\n    raise ValueError('in a module')\nfail()\n",
}
COMPILED = MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(WHERE, "elsewhere.py", "exec"))

CASES = {
    "its variables": f'"""What it does."""\nprint(__doc__)\n{WHERE}',
    "its builtins": """
import builtins
print(__builtins__ is builtins, print is builtins.print, sorted(vars(builtins)))
""",
    "its arguments": Case("import sys\nprint(sys.argv)\n", start=("train.py", *ODD_ARGUMENTS)),
    "in a folder below": Case(start=("scripts/go.py",), files={"scripts/go.py": WHERE}),
    "by a path with dots": Case(WHERE, start=("./scripts/../train.py",), files={"scripts/x": ""}),
    "without a suffix": Case(start=("go",), files={"go": WHERE}),
    "with an odd name": Case(start=("a script (é).py",), files={"a script (é).py": WHERE}),
    "through a link": Case(
        start=("go.py",), files={"real/train.py": WHERE}, links={"go.py": "real/train.py"}
    ),
    "through a link to a link": Case(
        start=("go.py", "x"),
        files={"real/train.py": f"import beside\n{WHERE}", "real/beside.py": "print('beside')\n"},
        links={"go.py": "real/again.py", "real/again.py": "train.py"},
    ),
    "through a linked folder": Case(
        start=("linked/train.py",), files={"real/train.py": WHERE}, links={"linked": "real"}
    ),
    "an error through a link": Case(
        start=("go.py",), files={"real/train.py": "1 / 0\n"}, links={"go.py": "real/train.py"}
    ),
    "a folder": Case(
        start=("program", "x"),
        files={"program/__main__.py": f"import beside\n{WHERE}", "program/beside.py": ""},
    ),
    "a folder, and an error": Case(
        start=("program",), files={"program/__main__.py": "def fail():\n    1 / 0\nfail()\n"}
    ),
    "a folder without a program": Case(start=("program",), files={"program/train.py": ""}),
    "a zip file": Case(
        start=("program.zip", "x"),
        zipped={"__main__.py": f"import beside\n{WHERE}", "beside.py": "print('beside')\n"},
    ),
    "a zip file, and an error": Case(
        start=("program.zip",), zipped={"__main__.py": "def fail():\n    1 / 0\nfail()\n"}
    ),
    "a module": Case(start=("-m", "package.train", *ODD_ARGUMENTS), files=PACKAGE),
    "a module beside": Case(WHERE, start=("-m", "train", "x")),
    "a package": Case(start=("-m", "package", "--epochs", "2"), files=PACKAGE),
    "a module, and an error": Case(start=("-m", "package.fails"), files=PACKAGE),
    "a module that is interrupted": Case("raise KeyboardInterrupt\n", start=("-m", "train")),
    "a folder that is interrupted": Case(
        start=("program",), files={"program/__main__.py": "raise KeyboardInterrupt\n"}
    ),
    "a module that is not there": Case(start=("-m", "no_such_module")),
    "a module that is not in its package": Case(start=("-m", "package.no_such"), files=PACKAGE),
    "a module of Python's": Case(start=("-m", "json.tool"), stdin='{"a": [1]}'),
    "from stdin": Case(start=("-", "x"), stdin=WHERE.replace("__file__", "'stdin'")),
    "from stdin, and an error": Case(start=("-",), stdin="def fail():\n    1 / 0\nfail()\n"),
    "compiled": Case(start=("train.pyc", "x"), files={"train.pyc": COMPILED}),
    "a script that imports itself": """
import train
print(train.__name__, __name__, train is __import__("sys").modules["__main__"])
""",
    "a program of its own name": """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, required=True)
parser.print_help()
parser.parse_args()
""",
    "modules with names that Python uses too": Case(
        "import secrets, token, queue, glob, signal, inspect, json, dataclasses, argparse\n"
        "for one in (secrets, token, queue, glob, signal, inspect, json, dataclasses, argparse):\n"
        "    print(one.__name__, one.__file__)\n",
        files={
            f"{name}.py": ""
            for name in (
                *("secrets", "token", "queue", "glob", "signal", "inspect", "json"),
                *("dataclasses", "argparse", "rich", "numpy", "typing_extensions"),
            )
        },
    ),
    "a module called penstock": Case(
        "import penstock\nprint(penstock.__file__, penstock.NUMBER)\n",
        files={"penstock.py": "NUMBER = 3\n"},
    ),
}
