"""Write the API pages of the public names to build/docs.

Usage: python scripts/build_docs.py
"""

import warnings
from pathlib import Path

import pdoc

import penstock

TARGET = Path("build/docs")


def main() -> None:
    """Write the pages; what pdoc only warns of is an error here."""
    # pdoc reads a module's dictionary, in which names that are imported on first use are missing.
    for name in penstock.__all__:
        setattr(penstock, name, getattr(penstock, name))
    warnings.simplefilter("error")
    pdoc.render.configure(docformat="google")
    pdoc.pdoc("penstock", output_directory=TARGET)
    print(f"docs: {TARGET / 'index.html'}")


if __name__ == "__main__":
    main()
