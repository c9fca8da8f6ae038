"""Two batches an epoch, and workers that are started for each."""

import sys

import planted

from penstock.results.records import Verdict

if __name__ == "__main__":
    loader = planted.data_loader(planted.Tensors(16, 64))
    sys.exit(planted.main(Verdict.START_UP, loader, "emulated:5000"))
