"""What becomes of a script's output, also when it is closed or nobody reads it."""

from cli.run_cases.case import Case

CASES = {
    "both outputs": """
import os, sys
print("out", flush=True)
print("error", file=sys.stderr)
os.write(1, b"raw\\n")
sys.stdout.buffer.write(b"\\xff\\xfe\\n")
print("not flushed, no end of line", end="")
""",
    "a lot of output": "for number in range(20_000):\n    print(number)\n",
    "stdout closed": "import sys\nprint('out')\nsys.stdout.close()\n",
    "stdout closed, and an error": "import sys\nsys.stdout.close()\nprint('lost')\n",
    "stderr closed": "import sys\nprint('out')\nsys.stderr.close()\nsys.exit(3)\n",
    "stderr closed, and an error": "import sys\nsys.stderr.close()\n1 / 0\n",
    "both closed": "import sys\nsys.stdout.close()\nsys.stderr.close()\nsys.exit('lost')\n",
    "both closed below Python": "import os\nprint('lost')\nos.close(1)\nos.close(2)\n",
    "stdout closed below Python": "import os\nprint('lost')\nos.close(1)\n",
    "no stdout": "import sys\nsys.stdout = None\nprint('lost')\n",
    "no stderr, and an error": "import sys\nsys.stderr = None\n1 / 0\n",
    "outputs deleted": "import sys\ndel sys.stdout, sys.stderr\n1 / 0\n",
    "outputs kept by the script": """
import io, sys
sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
print("kept")
sys.stderr.write("kept too")
sys.__stdout__.write(repr((sys.stdout.getvalue(), sys.stderr.getvalue())))
""",
    "another encoding": """
import sys
sys.stdout.reconfigure(encoding="utf-16", newline="\\r\\n", line_buffering=True)
print("é")
""",
    "what cannot be encoded": "import sys\nsys.stdout.reconfigure(encoding='ascii')\nprint('é')\n",
    "nobody reads": Case("print('lost')\n", stdout="no reader"),
    "nobody reads, and it notices": Case("print('x' * 100_000)\nprint(1)\n", stdout="no reader"),
    "nobody reads, and it exits": Case(
        "import sys\nprint('lost')\nsys.exit(3)\n", stdout="no reader"
    ),
    "nobody reads, and the system ends it": Case(
        "import signal\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\nprint('x', flush=True)\n",
        stdout="no reader",
    ),
    "a full disk": Case("print('lost')\n", stdout="full"),
    "a full disk, and it notices": Case("print('lost', flush=True)\n", stdout="full"),
    "logging": """
import logging
logging.basicConfig(level=logging.INFO, format="%(name)s %(filename)s:%(lineno)d %(message)s")
logging.info("started")
logging.getLogger(__name__).warning("slow")
try:
    1 / 0
except ZeroDivisionError:
    logging.exception("failed")
logging.debug("unseen")
""",
    "logging without a set-up": """
import logging
logging.warning("seen")
logging.info("unseen")
print(logging.getLogger().handlers)
""",
    "an error that is printed by the script": """
import sys, traceback
def fail():
    raise ValueError("printed")
try:
    fail()
except ValueError:
    traceback.print_exc(file=sys.stdout)
    print(traceback.format_stack())
""",
}
