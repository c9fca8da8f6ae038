"""Run by torchrun: trains with every kind of loader on two ranks, and writes down what came."""

import json
import sys
from pathlib import Path

import lightning
import torch

from lightning_training import KINDS, files_in, fit, make_model, make_trainer, save_at
from penstock import transforms as T
from penstock.lightning import DataModule

folder, target = map(Path, sys.argv[1:])


def noted(given):
    return [[epoch, samples, images.flatten(1).sum(1).tolist()] for epoch, samples, images in given]


found = {}
for kind in KINDS:
    for replaces in (True, False) if kind != "torch" else (True,):
        path = target / f"{kind}-{replaces}.ckpt"
        options = {"devices": 2, "strategy": "ddp", "use_distributed_sampler": replaces}
        data = {"batch_size": 2, "validates": kind != "torch"}
        save = save_at(lightning, path, step=7)
        whole = fit(lightning, kind, folder, target, data=data, callbacks=[save], **options)
        after = fit(lightning, kind, folder, target, data=data, resume=path, **options)
        found[f"{kind}-{replaces}"] = {
            "whole": noted(whole.trained),
            "after": noted(after.trained),
            "validated": noted(whole.validated),
        }

files = files_in(folder)
module = DataModule(
    predict=files,
    batch_size=2,
    labels=range(len(files)),
    val_transform=T.Compose([T.Resize((8, 8)), T.ToDtype("float32", scale=True)]),
)
trainer = make_trainer(lightning, target, devices=2, strategy="ddp")
predicted = trainer.predict(make_model(lightning), datamodule=module)
found["predicted"] = torch.cat(predicted).tolist()
(target / f"rank{trainer.global_rank}.json").write_text(json.dumps(found))
