"""`python -m penstock`: the command line, with options of Python's own before it."""

import sys

from penstock.cli.main import main

sys.exit(main())
