"""Tables, figures and words of the experiment, from its measurements alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.experiments.findings import Findings, Table
from penstock.experiments.formats.augmentations import ALL, AUGMENTATIONS, PLAIN
from penstock.experiments.formats.figures import draw_figures
from penstock.experiments.formats.forms import (
    DALI,
    FORMS,
    LIBRARIES,
    PENSTOCK,
    TORCH,
    contestants,
    reads,
)
from penstock.experiments.formats.savings import (
    BASE,
    Results,
    Spread,
    Who,
    device_title,
    group_of,
    judge,
    title_of,
)
from penstock.experiments.formats.storage import AHEAD, CONTIGUOUS_BYTES, STORAGES
from penstock.experiments.journal import Journal

_NONE = "-"

_NOTES = f"""\
Emulated accelerators are busy for the right time and compute nothing: 400 images/s is about a V100
on ResNet50 in float32, 2,500 about an A100 in mixed precision.

torchvision: Pillow decodes in a DataLoader's worker processes. Folder, RecordIO, HDF5 and LMDB are
read sample by sample in any order; TFRecord, WebDataset and Parquet from front to back, with shards
in any order and a shuffle buffer, as their users do.

Cold: the files are dropped from the system's memory first; what the disk or its host still
remembers cannot be dropped. One epoch, with everything that starts it.

The storages are simulated: data come from memory, and a batch is held back until the storage would
have delivered it, fetching at most {AHEAD} batches ahead. A sample that is read alone is a request
of its own; neighbours that are read one after the other are requested {CONTIGUOUS_BYTES >> 20} MiB
at a time. A sample counts with all its bytes, also where only a part of a .pen record is read;
Parquet counts with its row group where penstock reads a sample of it.

HDF5's raw pixels are rows of bytes with their sizes beside them, which penstock does not read;
LMDB's are Caffe's Datum, which it reads by way of a PNG, slowly: pack them.

DALI's resampling is not torchvision's, so its pixels differ; penstock's are identical to
torchvision's on Pillow.

Left out: tf.data, since TFRecord is read here as torch users read it, and by DALI; and GPUs: DALI
decodes and augments on the CPU here, as all others do, while the study used it on a GPU."""


def draw(journal: Journal) -> Findings:
    """Return everything that the report shows."""
    results = Results.of(journal)
    return Findings(
        "What a format saves, what an augmentation library saves, and what both save",
        "Zolnouri, Li and Partovi Nia (Importance of Data Loading Pipeline in Training Deep Neural "
        "Networks) report that binary record formats for reading and NVIDIA DALI for augmenting "
        "save 20-40 % of training time. Here the same images are written in every format, read by "
        "each library, and trained on.",
        _setting(results),
        judge(results),
        draw_figures(results),
        tuple(_tables(results)),
        (
            *(" ".join(note.split()) for note in _NOTES.split("\n\n")),
            *(f"missing: {reason}" for reason in results.reasons()),
        ),
    )


def _setting(results: Results) -> tuple[str, ...]:
    settings = results.settings
    cores = settings["cores"]
    many = "1 core" if cores == 1 else f"{cores} cores"
    rounds = results.count
    devices = ", ".join(device_title(device) for device in results.devices)
    return (
        f"{results.photos}: {settings['data']}",
        f"{many} for every contestant: as many worker processes (torchvision) or threads",
        (
            f"batches of {settings['batch_size']}, float32; median of {rounds} "
            f"round{'' if rounds == 1 else 's'} of {settings['seconds']:g} s, with their range"
        ),
        f"accelerators: {devices}; real steps are those of {settings['model']}",
        *(f"simulated: {storage.describe()}" for storage in STORAGES.values()),
    )


def _tables(results: Results) -> list[Table]:
    found = [_formats(results), _one_decoder(results)]
    found += [
        _by_library(results, title, _rate(results, field))
        for title, field in (
            ("Images per second from memory, shuffled", "shuffled"),
            ("Images per second from memory, in order", "in order"),
            ("Images per second of a first epoch from the disk", "cold"),
        )
    ]
    found.append(
        _by_library(
            results, "Seconds to the first batch, from memory / from the disk", _first(results)
        )
    )
    found.append(_by_library(results, "Memory in MB, without mapped files", _memory(results)))
    for name, storage in STORAGES.items():
        found.append(
            _by_library(
                results,
                f"Images per second behind {storage.title} (simulated), shuffled / in order",
                _behind(results, name),
            )
        )
    found += [_augmentations(results), _savings_table(results)]
    return [table for table in found if table.rows]


def _text(spread: Spread | None, *, percent: bool = False) -> str:
    return _NONE if spread is None else spread.text(percent=percent)


def _formats(results: Results) -> Table:
    rows = []
    folder = results.facts("write/folder")
    samples = results.settings["samples"]
    for form in FORMS:
        facts = results.facts(f"write/{form}")
        if facts is None or folder is None:
            continue
        rows.append(
            (
                FORMS[form].title,
                f"{facts['bytes'] / samples:,.0f}",
                f"{facts['bytes'] / folder['bytes']:.3f}",
                f"{facts['seconds']:.2f}",
                f"{samples / facts['seconds']:,.0f}",
            )
        )
    head = ("format", "bytes per sample", "x the JPEGs", "seconds to write", "samples/s written")
    return Table("Bytes, and time to write on one core", head, rows, results.photos + ".")


def _one_decoder(results: Results) -> Table:
    fields = ("read, shuffled", "read, in order", "decoded")
    rows = [
        (FORMS[form].title, *(f"{facts[field]:,.0f}" for field in fields))
        for form in FORMS
        if (facts := results.facts(f"one/{form}")) is not None
    ]
    return Table(
        "One decoder for all: samples per second in one thread",
        ("format", "reading alone, shuffled", "reading alone, in order", "with Pillow and a crop"),
        rows,
        f"The same code decodes and crops, so the format alone differs; tiles are turned back into "
        f"the JPEG first. {results.photos}.",
    )


def _by_library(results: Results, title: str, cell: Callable[[Who], str]) -> Table:
    rows = []
    for form in FORMS:
        cells = [cell((library, form)) if reads(library, form) else _NONE for library in LIBRARIES]
        if set(cells) != {_NONE}:
            rows.append((FORMS[form].title, *cells))
    return Table(title, ("format", *LIBRARIES), rows, results.photos + ".")


def _rate(results: Results, field: str) -> Callable[[Who], str]:
    return lambda who: _text(results.read(who, field))


def _first(results: Results) -> Callable[[Who], str]:
    def cell(who: Who) -> str:
        warm, cold = (results.read(who, field) for field in ("first_batch_s", "cold_first_batch_s"))
        if warm is None or cold is None:
            return _NONE
        return f"{warm.median:.2f} / {cold.median:.2f}"

    return cell


def _memory(results: Results) -> Callable[[Who], str]:
    def cell(who: Who) -> str:
        found = results.read(who, "memory_bytes")
        return _NONE if found is None else f"{found.median / 1e6:,.0f}"

    return cell


def _behind(results: Results, storage: str) -> Callable[[Who], str]:
    def cell(who: Who) -> str:
        rates = [results.behind(f"{storage}, {order}", who) for order in ("shuffled", "in order")]
        told = [f"{rate:,.0f}" for rate in rates if rate is not None]
        return " / ".join(told) or _NONE

    return cell


def _augmentations(results: Results) -> Table:
    who: Sequence[Who] = ((TORCH, "folder"), (DALI, "folder"), (PENSTOCK, "folder"),
                          (PENSTOCK, "pen"))  # fmt: skip
    rows = []
    for name in AUGMENTATIONS:
        cells = [_text(results.augmented(one, name)) for one in who]
        if set(cells) != {_NONE}:
            rows.append((_augmentation_title(name), *cells))
    return Table(
        "Images per second with the study's augmentations",
        ("after a random crop and a flip", *map(title_of, who)),
        rows,
        f"From memory, shuffled, without an accelerator. {results.photos}.",
    )


def _augmentation_title(name: str) -> str:
    words = {
        "pad": "{:g} px of padding",
        "rotate": "rotation by up to {:g} degrees",
        "resize": "to {:g} px",
        "noise": "noise of {:g}",
    }
    parts = [words[what].format(much) for what, much in AUGMENTATIONS[name]]
    if name == PLAIN:
        return "nothing"
    return f"all: {', '.join(parts)}" if name == ALL else f"{name}: {parts[0]}"


def _savings_table(results: Results) -> Table:
    rows = []
    for who in contestants():
        cells = [_text(results.saved(device, who), percent=True) for device in results.devices]
        rates = [_text(results.trained(device, who)) for device in results.devices]
        if set(cells) != {_NONE}:
            kind = "what it is compared with" if who == BASE else group_of(who)
            both = [_pair(cell, rate) for cell, rate in zip(cells, rates, strict=True)]
            rows.append((f"{title_of(who)} ({kind})", *both))
    return Table(
        "Share of training time saved, and images per second",
        ("", *map(device_title, results.devices)),
        rows,
        f"With all of the study's augmentations, against {title_of(BASE)}, which trained right "
        f"before each; its own row shows how certain the others are. {results.photos}.",
    )


def _pair(saved: str, rate: str) -> str:
    return _NONE if _NONE in {saved, rate} else f"{saved}; {rate}"
