"""The interpreter that a script meets: its modules, stack, flags, variables and limits."""

from cli.run_cases.case import Case

LIMIT_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
FLAGS = """
import os, sys
print(sys.flags, sys.warnoptions, sys._xoptions, sys.dont_write_bytecode)
print(sys.stdout.encoding, sys.stdout.errors, sys.stdout.line_buffering, sys.stdout.write_through)
print(sys.stdin.encoding, sys.stderr.encoding, sys.stderr.errors, sys.getfilesystemencoding())
print(sys.path, sys.executable, sys.prefix, sys.flags.utf8_mode)
print(sorted(os.environ.items()))
"""
C_LOCALE = ("LANG", "LC_ALL", "LC_CTYPE", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONCOERCECLOCALE")
# Python reads it for penstock too, before it starts the script.
FOR_THE_SCRIPT = "import sys\nif sys.argv[0] == 'train.py':\n"

CASES = {
    "nothing heavy is imported": """
import sys
print([name for name in sys.modules if name.partition(".")[0] in
       {"numpy", "torch", "PIL", "rich", "ctypes", "multiprocessing", "asyncio", "penstock"}])
""",
    "no module that Python would not have": """
import sys
print(sorted(set(sys.modules) - {"atexit"}))
""",
    "flags": FLAGS,
    **{
        f"{name}={value}": Case(FLAGS, environment={name: value})
        for name, value in {
            "PYTHONPATH": "beside:/no/such/folder",
            "PYTHONUTF8": "1",
            "PYTHONIOENCODING": "latin-1:replace",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONSAFEPATH": "1",
            "PYTHONWARNINGS": "error,ignore::ImportWarning",
            "PYTHONDEVMODE": "1",
            "PYTHONNOUSERSITE": "1",
        }.items()
    },
    "PYTHONPATH that is empty": Case(FLAGS, environment={"PYTHONPATH": ""}),
    "PYTHONPATH with an empty part": Case(FLAGS, environment={"PYTHONPATH": ":beside"}),
    "options of Python itself": Case(
        FLAGS, options=("-O", "-u", "-W", "error::UserWarning", "-X", "faulthandler", "-b")
    ),
    "no language is set": Case(FLAGS + "print('é')\n", without=C_LOCALE),
    "a language without its letters": Case(
        FLAGS + "print(ascii(os.fsdecode(b'\\xff')))\n", environment={"LC_ALL": "C"}
    ),
    "PYTHONHASHSEED": Case("print(hash('penstock'))\n", environment={"PYTHONHASHSEED": "7"}),
    "PYTHONINSPECT": Case(
        "number = 3\n", stdin="print(number + 1)\n", environment={"PYTHONINSPECT": "1"}
    ),
    "PYTHONFAULTHANDLER": Case("import os\nos.abort()\n", environment={"PYTHONFAULTHANDLER": "1"}),
    "a sitecustomize": Case(
        "import sys\nprint(sys.modules['sitecustomize'].__file__)\n",
        files={"site/sitecustomize.py": FOR_THE_SCRIPT + "    print(__file__, sys.argv)\n"},
        environment={"PYTHONPATH": "site"},
    ),
    "a sitecustomize that fails": Case(
        "import sys\nprint('sitecustomize' in sys.modules)\n",
        files={"site/sitecustomize.py": FOR_THE_SCRIPT + "    raise ValueError('failed')\n"},
        environment={"PYTHONPATH": "site"},
    ),
    "a sitecustomize that needs what is not there": Case(
        "print(1)\n",
        files={"site/sitecustomize.py": FOR_THE_SCRIPT + "    import no_such_module\n"},
        environment={"PYTHONPATH": "site"},
    ),
    "the environment of a child": """
import os, subprocess, sys
child = "import os, sys; print(dict(os.environ) == eval(input())); print(sys.path)"
subprocess.run([sys.executable, "-c", child], input=repr(dict(os.environ)), text=True, check=True)
""",
    "a child that is the script again": """
import subprocess, sys
print(sys.argv)
sys.stdout.flush()
if len(sys.argv) == 1:
    print(subprocess.run([*sys.orig_argv, "again"], check=False).returncode)
else:
    sys.exit(3)
""",
    "variables of the environment": Case(
        "import os\nprint({name: os.environ[name] for name in os.environ})\n",
        environment=dict.fromkeys(LIMIT_VARIABLES, "1"),
    ),
    "the stack": """
import inspect, sys, traceback
def depth():
    frame, steps = sys._getframe(), 0
    while frame is not None:
        frame, steps = frame.f_back, steps + 1
    return steps
print(depth(), [one.function for one in inspect.stack()])
traceback.print_stack()
""",
    "how deep a script may go": """
import sys
def down(steps):
    try:
        return down(steps + 1)
    except RecursionError:
        return steps
print(sys.getrecursionlimit(), down(0))
""",
    "sources": """
import inspect, linecache, sys
class Model:
    def forward(self): return 3
def train(model): return model.forward()
print(inspect.getsource(train), inspect.getsource(Model), inspect.getfile(Model))
print(inspect.getsourcefile(train), inspect.getmodule(train), train.__code__.co_filename)
print(linecache.getline(__file__, 3), inspect.getmodule(sys._getframe()))
""",
    "warnings": """
import warnings
def old():
    warnings.warn("old", DeprecationWarning, stacklevel=2)
old()
warnings.warn("here")
warnings.warn("far away", stacklevel=9)
print(warnings.filters)
""",
    "warnings in a module": Case(
        "import beside\nbeside.old()\n",
        files={"beside.py": "import warnings\ndef old(): warnings.warn('x', DeprecationWarning)\n"},
    ),
    "warnings that are errors": Case(
        "import warnings\nwarnings.warn('not here')\n", environment={"PYTHONWARNINGS": "error"}
    ),
    "finders of modules": """
import sys
print(sys.meta_path[-3:], sys.path_hooks)
print(sorted(path for path in sys.path_importer_cache if "site-packages" not in path))
""",
    "open files": "import os\nprint(len(os.listdir('/proc/self/fd')))\n",
    "limits of the process": """
import os, resource
print(resource.getrlimit(resource.RLIMIT_NOFILE), os.getpgrp() == os.getpid(), os.getcwd())
print(resource.getrlimit(resource.RLIMIT_STACK), os.umask(0), os.nice(0), os.sched_getaffinity(0))
""",
    "breakpoint": Case(
        "def train():\n    loss = 3\n    breakpoint()\n    print('on')\ntrain()\n",
        stdin="p loss\nwhere\ncontinue\n",
    ),
    "breakpoint without an answer": "breakpoint()\nprint('never')\n",
    "breakpoint that is off": Case("breakpoint()\n", environment={"PYTHONBREAKPOINT": "0"}),
    "a module with tests": Case(
        '"""\n>>> double(3)\n7\n"""\n'
        "import doctest, unittest\n"
        "def double(x): return 2 * x\n"
        "print(doctest.testmod())\n"
        "class TestDouble(unittest.TestCase):\n"
        "    def test_it(self): self.assertEqual(double(2), 4)\n"
        "if __name__ == '__main__':\n"
        "    unittest.main(argv=['train.py', '-q', 'TestNone'])\n"
    ),
    "another script inside": Case(
        "import runpy\nprint(runpy.run_path('beside.py', run_name='__main__')['NUMBER'])\n"
        "print(__name__, __file__)\n",
        files={"beside.py": "NUMBER = 4\nprint(__name__, __file__)\n"},
    ),
    "reading a terminal's lines": Case(
        "print([input('? '), input()])\ninput()\n", stdin="one\ntwo\n"
    ),
    "tracing": """
import sys
calls = []
def trace(frame, event, argument):
    calls.append((event, frame.f_code.co_name))
sys.setprofile(trace)
import colorsys
sys.setprofile(None)
print(calls[0], calls[-1])
""",
}
