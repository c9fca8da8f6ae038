"""Run by torchrun: loaders that Accelerate has prepared for two ranks, and what comes of them."""

import json
import sys
from pathlib import Path

import torch
from accelerate import skip_first_batches

import penstock as ps
from accelerate_training import make_accelerator, make_dataset, noted, prepare
from penstock import transforms as T
from penstock.torch import keep_native

folder, target = map(Path, sys.argv[1:])
CONFIGS = {
    "default": {},
    "seedable": {"use_seedable_sampler": True},
    "uneven": {"even_batches": False},
    "split": {"split_batches": True},
    "dispatch": {"dispatch_batches": True},
}


def gathered(accelerator, prepared):
    """The samples of the next epoch on all ranks, as metrics get them; and how many batches."""
    parts = [accelerator.gather_for_metrics(labels) for _, labels in prepared]
    return torch.cat(parts).tolist(), len(parts)


found = {}
for name, config in CONFIGS.items():
    for native in (False, True):
        if native and name == "dispatch":
            continue
        torch.manual_seed(1 + native)
        accelerator = make_accelerator(target, **config)
        prepared, loader = prepare(accelerator, make_dataset(folder), native=native)
        mine = found[f"{name}-{'native' if native else 'plain'}"] = {
            "epochs": [noted(prepared), noted(prepared)],
            "length": len(prepared),
        }
        if name != "uneven":  # ranks have different numbers of batches there
            mine["metrics"], mine["batches"] = gathered(accelerator, prepared)
        if name in {"default", "split"}:
            rest = skip_first_batches(prepared, 2)
            if native:
                keep_native(rest, loader)
            mine["skipped"] = noted(rest)

torch.manual_seed(5)
accelerator = make_accelerator(target)
prepared, _ = prepare(accelerator, make_dataset(folder), native=True)
whole = []
for _ in range(2):
    for batch in prepared:
        whole += noted([batch])
        if len(whole) == 5:  # in the second epoch
            accelerator.save_state(target / "state")
            accelerator.wait_for_everyone()
torch.manual_seed(6)
accelerator = make_accelerator(target)
prepared, _ = prepare(accelerator, make_dataset(folder), native=True)
accelerator.load_state(target / "state")
found["resumed"] = {"whole": whole, "after": noted(prepared)}

files = sorted(folder.rglob("*.jpg"))
loader = ps.Loader(
    files, labels=range(len(files)), batch_size=2, transform=T.Resize((8, 8)), shuffle=True
)
found["loader"] = [label for _, labels in accelerator.prepare(loader) for label in labels.tolist()]
(target / f"rank{accelerator.process_index}.json").write_text(json.dumps(found))
accelerator.end_training()
