"""How a script ends: exit codes, exceptions, signals."""

from cli.run_cases.case import Case

EXIT_ARGUMENTS = {
    "nothing": "",
    "none": "None",
    "zero": "0",
    "three": "3",
    "true": "True",
    "256": "256",
    "300": "300",
    "minus one": "-1",
    "2**31": "2**31",
    "2**63": "2**63",
    "2**70": "2**70",
    "a message": "'a message'",
    "an empty message": "''",
    "letters of all kinds": "'\\u00e9\\u4e16\\U0001f600'",
    "a float": "2.5",
    "two values": "1, 2",
    "a tuple": "(1, 2)",
    "bytes": "b'bytes'",
    "an enum": "__import__('enum').IntEnum('Code', 'A B').B",
    "no text": "type('NoText', (), {'__str__': lambda self: 1 / 0})()",
}

CASES = {
    **{
        f"sys.exit with {name}": f"import sys\nprint('last')\nsys.exit({argument})\n"
        for name, argument in EXIT_ARGUMENTS.items()
    },
    "SystemExit": "raise SystemExit(5)\n",
    "SystemExit of a class of its own": """
class Stop(SystemExit):
    code = 9
raise Stop(4)
""",
    "SystemExit that is caught": """
try:
    raise SystemExit(5)
except SystemExit as stop:
    print("caught", stop.code)
""",
    "SystemExit while handling an error": """
try:
    1 / 0
except ZeroDivisionError:
    raise SystemExit("gave up")
""",
    "exit() and quit()": "try:\n    quit(4)\nexcept SystemExit as stop:\n    exit(stop.code + 1)\n",
    "an error": "def divide(by):\n    return 1 / by\n\nprint('before')\ndivide(0)\n",
    "an error while handling another": """
try:
    {}["name"]
except KeyError:
    raise ValueError("second")
""",
    "an error from another": """
try:
    {}["name"]
except KeyError as error:
    raise ValueError("second") from error
""",
    "an error with notes": """
error = ValueError("went wrong")
if hasattr(error, "add_note"):
    error.add_note("in sample 3")
raise error
""",
    "a group of errors": """
import sys
if sys.version_info < (3, 11):
    sys.exit("none yet")
raise ExceptionGroup("both", [ValueError(1), TypeError(2)])
""",
    "an error without text": """
class Odd(Exception):
    def __str__(self):
        raise RuntimeError("no text")
raise Odd
""",
    "an error of a class of the script": """
class WentWrong(Exception):
    pass
raise WentWrong("here")
""",
    "an error in a module beside it": Case(
        "import beside\nbeside.fail()\n", files={"beside.py": "def fail():\n    raise OSError(3)\n"}
    ),
    "an error while a module is imported": Case(
        "import beside\n", files={"beside.py": "import no_such_module\n"}
    ),
    "an endless recursion": "def down():\n    down()\ndown()\n",
    "a hook for errors": """
import sys
sys.excepthook = lambda kind, error, traceback: print(
    kind.__name__, error, traceback.tb_lineno, traceback.tb_next.tb_lineno
)
def fail():
    raise ValueError("seen")
fail()
""",
    "a hook for errors that fails": """
import sys
def hook(kind, error, traceback):
    raise TypeError("in the hook")
sys.excepthook = hook
raise ValueError("first")
""",
    "nobody changed the hooks": """
import sys, threading
print(sys.excepthook is sys.__excepthook__, sys.unraisablehook is sys.__unraisablehook__)
print(sys.displayhook is sys.__displayhook__, sys.breakpointhook is sys.__breakpointhook__)
print(threading.excepthook is threading.__excepthook__)
""",
    "an assertion": "assert 1 == 2, 'not equal'\n",
    "KeyboardInterrupt": "raise KeyboardInterrupt\n",
    "Ctrl-C": """
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(60)
""",
    "Ctrl-C that is caught": """
import os, signal, time
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
except KeyboardInterrupt:
    print("caught")
    raise SystemExit(3)
""",
    "Ctrl-C in an exit function's time": """
import atexit, os, signal, time
@atexit.register
def last():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
""",
    "Ctrl-C for a script that ignores it": """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.kill(os.getpid(), signal.SIGINT)
print("goes on")
""",
    "Ctrl-C as the system handles it": """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
print("not flushed")
os.kill(os.getpid(), signal.SIGINT)
""",
    **{
        f"{name} as the system handles it": f"""
import atexit, os, signal, time
atexit.register(print, "never printed")
print("printed", flush=True)
os.kill(os.getpid(), signal.{name})
time.sleep(60)
"""
        for name in ("SIGTERM", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGALRM", "SIGSEGV")
    },
    "SIGPIPE, which Python ignores": """
import os, signal
os.kill(os.getpid(), signal.SIGPIPE)
print("goes on")
""",
    "SIGTERM with a handler": """
import os, signal, sys
def handle(number, frame):
    print("handled", number, frame.f_lineno)
    sys.exit(7)
print(signal.signal(signal.SIGTERM, handle))
os.kill(os.getpid(), signal.SIGTERM)
""",
    "SIGTERM that is ignored": """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.kill(os.getpid(), signal.SIGTERM)
print("goes on")
""",
    "SIGALRM with a handler": """
import signal
def handle(number, frame):
    raise TimeoutError("too slow")
signal.signal(signal.SIGALRM, handle)
signal.raise_signal(signal.SIGALRM)
""",
    "how all signals are handled": """
import signal
for number in sorted(signal.valid_signals()):
    print(number, signal.getsignal(number))
""",
    "os._exit": """
import atexit, os
atexit.register(print, "never printed")
print("never flushed")
os._exit(4)
""",
    "os._exit in a thread": """
import os, threading
threading.Thread(target=os._exit, args=(6,)).start()
threading.Event().wait()
""",
    "os.abort": "import os\nprint('out', flush=True)\nos.abort()\n",
    "os.abort with faulthandler": """
import faulthandler, os
faulthandler.enable()
def end():
    os.abort()
end()
""",
    "where faulthandler sees the script": """
import faulthandler
def here():
    faulthandler.dump_traceback(all_threads=True)
here()
""",
    "os.execv": """
import os, sys
os.execv(sys.executable, [sys.executable, "-c", "import sys; print(sys.argv); sys.exit(3)", "x"])
""",
    "exit functions": """
import atexit, sys
atexit.register(print, "second")
atexit.register(print, "first")
@atexit.register
def fail():
    raise ValueError("in an exit function")
sys.exit(3)
""",
    "an exit function that exits": """
import atexit, sys
atexit.register(sys.exit, 8)
print("last line")
""",
    "exit functions after an error": """
import atexit
atexit.register(print, "exit function")
raise ValueError("went wrong")
""",
}
