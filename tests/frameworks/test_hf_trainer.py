"""Hugging Face's Trainer over a penstock.torch.Dataset: its own, and ours with native batches."""

import ast
import os
import subprocess
import sys

import PIL.Image
import pytest

from penstock import LoaderError
from penstock import transforms as T

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("accelerate", reason="accelerate is not installed")

from torch.utils.data import DataLoader as TorchLoader  # noqa: E402 (optional)
from torch.utils.data import Subset  # noqa: E402 (the same)

from penstock.torch import DataLoader, Dataset  # noqa: E402 (the same)
from penstock.transformers import NativeBatches, TellEpochs, Trainer  # noqa: E402 (the same)

pytestmark = pytest.mark.filterwarnings("ignore")

NAMES = {"image": "pixel_values", "label": "labels"}
STILL = T.Compose(
    [T.Resize((8, 8)), T.ToDtype("float32", scale=True), T.Normalize((0.5,) * 3, (0.25,) * 3)]
)
RANDOM = T.Compose([T.RandomResizedCrop(8), T.RandomHorizontalFlip(), T.ToTensor()])


class Model(torch.nn.Module):
    """Notes what it is given: the numbers of samples, and their pixels."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(192, 23)
        self.trained, self.evaluated, self.pixels = [], [], []

    def forward(self, pixel_values, labels):
        (self.trained if self.training else self.evaluated).append(labels.tolist())
        if self.training:
            self.pixels += pixel_values.clone()
        logits = self.layer(pixel_values.flatten(1))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def data(folder, transform=RANDOM, **more):
    files = sorted(folder.rglob("*.jpg"))
    options = {"transform": transform, "as_dict": NAMES, **more}
    return Dataset(files, labels=range(len(files)), **options)


def train(folder, dataset, trainer=Trainer, resume=None, **more):
    """Return the model after two epochs, or one, and the trainer."""
    options = {
        "output_dir": str(folder),
        "per_device_train_batch_size": 4,
        "per_device_eval_batch_size": 4,
        "num_train_epochs": 2,
        "report_to": [],
        "save_strategy": "no",
        "use_cpu": True,
        "disable_tqdm": True,
        "seed": 3,
        **more,
    }
    held = options.pop("held", None)
    callbacks = options.pop("callbacks", [])
    torch.manual_seed(0)
    model = Model()
    made = trainer(
        model,
        transformers.TrainingArguments(**options),
        train_dataset=dataset,
        eval_dataset=held,
        callbacks=callbacks,
    )
    made.train(resume_from_checkpoint=resume)
    return model, made


def samples(batches):
    return [sample for batch in batches for sample in batch]


class Plain(torch.utils.data.Dataset):
    """What a user without penstock writes."""

    def __init__(self, folder, torchvision):
        v2 = torchvision.transforms.v2
        self.files = sorted(folder.rglob("*.jpg"))
        self.transform = v2.Compose(
            [
                v2.Resize((8, 8)),
                v2.PILToTensor(),
                v2.ToDtype(torch.float32, scale=True),
                v2.Normalize((0.5,) * 3, (0.25,) * 3),
            ]
        )

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = PIL.Image.open(self.files[index]).convert("RGB")
        return {"pixel_values": self.transform(image), "labels": index}


@pytest.mark.parametrize("trainer", [transformers.Trainer, Trainer])
def test_batches_are_those_of_a_dataset_on_pillow(folder, tmp_path, torchvision, trainer):
    """Whose loader works natively, the order, pixels and what is learned are the same."""
    theirs, _ = train(tmp_path, Plain(folder, torchvision), transformers.Trainer)
    mine, made = train(tmp_path, data(folder, STILL), trainer, held=data(folder, STILL))

    assert mine.trained == theirs.trained
    assert sorted(samples(mine.trained)) == sorted([*range(23)] * 2)
    assert all(map(torch.equal, mine.pixels, theirs.pixels))
    assert torch.equal(mine.layer.weight, theirs.layer.weight)
    assert made.state.epoch == 2
    made.evaluate()
    assert samples(mine.evaluated) == list(range(23))
    predicted = made.predict(data(folder, STILL))
    assert predicted.label_ids.tolist() == list(range(23))


def test_what_works_natively(folder, tmp_path):
    _, made = train(tmp_path, data(folder), num_train_epochs=1, held=data(folder))
    for loader in (
        made.get_train_dataloader(),
        made.get_eval_dataloader(),
        made.get_test_dataloader(Subset(data(folder), range(9))),
    ):
        assert isinstance(loader.base_dataloader, DataLoader)
        assert loader.collate_fn is torch.utils.data.default_collate, "no copy of the batch"
    batch = next(iter(loader))
    assert batch["pixel_values"].shape == (4, 3, 8, 8)
    assert batch["labels"].tolist() == [0, 1, 2, 3]
    other = made.get_eval_dataloader(torch.utils.data.TensorDataset(torch.zeros(3, 1)))
    assert type(other.base_dataloader) is TorchLoader


@pytest.mark.parametrize(
    ("as_dict", "told"),
    [
        (False, r"samples of the Dataset are tuples.*as_dict=.*data_collator"),
        (True, r"images are called 'image'.* left out, since the model takes pixel_values, labels"),
        ({"image": "x"}, r"images are called 'x' .*remove_unused_columns=False"),
    ],
)
def test_samples_of_which_nothing_would_be_left_are_refused(folder, tmp_path, as_dict, told):
    with pytest.raises(LoaderError, match=told):
        train(tmp_path, data(folder, as_dict=as_dict))


def test_collate_functions_that_make_something_else_are_called(folder, tmp_path):
    """Names that the Trainer changes, columns that the model does not take, or the user's own."""
    for more in (
        {"as_dict": {"image": "pixel_values"}},
        {"as_dict": NAMES, "columns": ["name"]},
    ):
        made = train(tmp_path, data(folder, STILL, **more), num_train_epochs=1)[1]
        batch = next(iter(made.get_train_dataloader()))
        assert sorted(batch) == ["labels", "pixel_values"]
    arguments = made.args
    own = Trainer(
        Model(),
        arguments,
        train_dataset=data(folder),
        data_collator=lambda listed: {"pixel_values": torch.zeros(len(listed), 3, 8, 8)},
    )
    assert next(iter(own.get_train_dataloader()))["pixel_values"].sum() == 0


@pytest.mark.parametrize("step", [2, 6, 8])
@pytest.mark.parametrize("is_native", [True, False])
def test_a_training_goes_on_with_the_samples_that_would_have_come(
    folder, tmp_path, step, is_native
):
    """In the middle of either epoch, or between them: the same samples, with the same draws."""
    trainer = Trainer if is_native else transformers.Trainer
    more = {"save_strategy": "steps", "save_steps": 2}
    if not is_native:
        more["callbacks"] = [TellEpochs()]
    whole, _ = train(tmp_path, data(folder, seed=5), trainer, **more)
    checkpoint = tmp_path / f"checkpoint-{step}"
    resumed, made = train(tmp_path, data(folder, seed=5), trainer, checkpoint, **more)

    assert len(whole.trained) == 12
    assert resumed.trained == whole.trained[step:]
    came = whole.pixels[len(samples(whole.trained[:step])) :]
    assert len(resumed.pixels) == len(came)
    assert all(map(torch.equal, resumed.pixels, came))
    assert torch.equal(resumed.layer.weight, whole.layer.weight)
    assert made.state.epoch == 2


def test_worker_processes_of_the_arguments_change_nothing(folder, tmp_path):
    """Ours starts none, except for the rest of an epoch after a checkpoint."""
    more = {"save_strategy": "steps", "save_steps": 8, "held": data(folder, STILL)}
    workers = {"dataloader_num_workers": 1, "dataloader_persistent_workers": True}
    plain, _ = train(tmp_path, data(folder, seed=5), **more)
    whole, made = train(tmp_path, data(folder, seed=5), **more, **workers)
    assert whole.trained == plain.trained
    assert all(map(torch.equal, whole.pixels, plain.pixels))
    assert made.get_eval_dataloader() is made.get_eval_dataloader(), "kept, and native"
    assert isinstance(made.get_eval_dataloader().base_dataloader, DataLoader)
    checkpoint = tmp_path / "checkpoint-8"
    resumed, _ = train(tmp_path, data(folder, seed=5), Trainer, checkpoint, **more, **workers)
    assert resumed.trained == whole.trained[8:]
    assert all(map(torch.equal, resumed.pixels, whole.pixels[-len(resumed.pixels) :]))


@pytest.mark.parametrize("seed", [None, 5])
def test_every_epoch_draws_anew(folder, tmp_path, seed):
    model, _ = train(tmp_path, data(folder, seed=seed))
    numbers = samples(model.trained)
    first = dict(zip(numbers[:23], model.pixels[:23], strict=True))
    second = dict(zip(numbers[23:], model.pixels[23:], strict=True))
    assert not any(torch.equal(first[sample], second[sample]) for sample in range(23))


def test_it_is_mixed_into_other_trainers(folder, tmp_path):
    class Own(transformers.Trainer):
        def get_train_dataloader(self):
            return TorchLoader(self.train_dataset, 4)

    class Mine(NativeBatches, Own):
        pass

    with pytest.raises(LoaderError, match=r"DataLoader, which Accelerate has not prepared"):
        train(tmp_path, data(folder), Mine)


SCRIPT = """
import os, sys
import test_hf_trainer as shared
from pathlib import Path
import torch, transformers
from penstock.transformers import Trainer

folder, output, kind, resume = sys.argv[1:]
folder, output = Path(folder), Path(output)
options = {"ddp_backend": "gloo", "save_strategy": "steps", "save_steps": 2}
if kind == "theirs":
    import torchvision
    dataset, trainer = shared.Plain(folder, torchvision), transformers.Trainer
else:
    transform, seed = (shared.STILL, None) if kind == "still" else (shared.RANDOM, 5)
    dataset, trainer = shared.data(folder, transform, seed=seed), Trainer
held = shared.data(folder, shared.STILL)
checkpoint = output / resume if resume else None
model, made = shared.train(output, dataset, trainer, checkpoint, held=held, **options)
predicted = made.predict(held)
assert predicted.label_ids.tolist() == list(range(23)), predicted.label_ids
sums = [float(pixels.double().sum()) for pixels in model.pixels]
print(f"\\nSEEN {made.args.process_index} {(model.trained, sums)}", flush=True)
sys.stdout.flush()
os._exit(0)  # when gloo is torn down with a model in it, torch may wait for itself
"""


def run_two(tmp_path, folder, kind, resume=""):
    """What each of two processes has trained on: samples, and sums of their pixels."""
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
    tests = os.path.dirname(__file__)
    path = os.pathsep.join([tests, os.path.dirname(tests), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*launcher, str(script), str(folder), str(tmp_path / kind), kind, resume],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split(" ", 2)[1:] for line in done.stdout.splitlines() if line[:4] == "SEEN"]
    return [ast.literal_eval(text) for _, text in sorted(lines)]


@pytest.mark.slow
def test_two_processes_share_every_epoch(folder, tmp_path):
    """As with the Trainer's own loader, to the bit; 23 samples in 24 places: one is padding."""
    theirs, mine = (run_two(tmp_path, folder, kind) for kind in ("theirs", "still"))
    assert mine == theirs
    for epoch in (slice(0, 3), slice(3, 6)):
        seen = [sample for trained, _ in mine for sample in samples(trained[epoch])]
        assert len(seen) == 24
        assert set(seen) == set(range(23))


@pytest.mark.slow
def test_two_processes_go_on_in_the_middle_of_an_epoch(folder, tmp_path):
    whole = run_two(tmp_path, folder, "random")
    resumed = run_two(tmp_path, folder, "random", "checkpoint-4")
    first, second = {}, {}
    for (trained, sums), (again, sums_again) in zip(whole, resumed, strict=True):
        assert again == trained[4:]
        assert sums_again == sums[-len(samples(again)) :]
        assert len(sums_again) == len(samples(again))
        before = len(samples(trained[:3]))
        first |= dict(zip(samples(trained[:3]), sums[:before], strict=True))
        second |= dict(zip(samples(trained[3:]), sums[before:], strict=True))
    assert set(first) == set(second) == set(range(23))
    assert not any(first[sample] == second[sample] for sample in first), "drawn anew"
