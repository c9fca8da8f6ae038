"""The second study's experiment: its tasks, and what is found in their measurements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.analysis.machine import describe_environment
from penstock.experiments.experiment import Experiment, Task
from penstock.experiments.findings import Findings, Table
from penstock.experiments.journal import Journal
from penstock.experiments.libraries.claims import judge
from penstock.experiments.libraries.detector.training import (
    LINES_KEY,
    LOADERS,
    TRANSLATION_KEY,
    DetectorBench,
)
from penstock.experiments.libraries.figures import draw_pictures
from penstock.experiments.libraries.measure import Bench
from penstock.experiments.libraries.readings import Readings, told
from penstock.experiments.libraries.toolkits import open_toolkits
from penstock.experiments.libraries.work import CHAINS, LOAD, OPS, Settings

NAME = "libraries"
TITLE = "Image libraries and the order of operations"
QUESTION = (
    "What do resizing, cropping, rotating, jittering and mirroring cost in each image library, "
    "what does their order matter, and what keeps a detector waiting? After Cesar, Solina, "
    "Kramberger and Kramberger: Enhancing the performance of image preprocessing for "
    "classification and object detection (Polytechnic & Design, 2020)."
)
NVIDIA = (
    "For comparison, NVIDIA trains SSD300 with the larger ResNet-50 backbone at 323 images/s on "
    "one V100 in mixed precision, and 107 in single precision "
    "(github.com/NVIDIA/DeepLearningExamples, PyTorch/Detection/SSD)."
)
SCOPE = (
    (
        "Reproduced: figures 1 to 4; each operation alone, with loading and without; the chain in "
        "both orders, step by step; photos of the study's three sizes; the detector's utilisation, "
        "images per second and time by line. Beyond the study: more libraries, the differences of "
        "pixels, and an order that a planner chooses."
    ),
    (
        "Not reproduced: the study's own photos, its machine and its V100. Times of GPU libraries "
        "are out of scope: the study has none."
    ),
    (
        "Which filter the study rotated with is not known; two are measured here. Resizing is "
        "bilinear: Pillow, torchvision, NumPy and penstock weigh all pixels that fall into one, "
        "OpenCV and Albumentations only four, which is faster and shows in the pixels."
    ),
)
_LONGEST_CODE = 100


def make_experiment(settings: Settings) -> Experiment:
    """Return the experiment; libraries that are missing are named in its environment."""
    toolkits, missing = open_toolkits(settings.pillow_simd)
    environment = describe_environment()
    environment |= {toolkit.name: toolkit.version for toolkit in toolkits}
    environment |= {name: f"not measured: {reason}" for name, reason in missing.items()}
    notes = {toolkit.name: toolkit.note for toolkit in toolkits if toolkit.note}
    environment |= {f"{name}, note": note for name, note in notes.items()}
    bench, detector = Bench(settings, toolkits), DetectorBench(settings)

    def tasks() -> Sequence[Task]:
        return [*bench.tasks(), *detector.tasks()]

    return Experiment(NAME, settings.to_dict(), environment, tasks, draw, bench.close)


def draw(journal: Journal) -> Findings:
    """Return everything that the report shows."""
    readings = Readings(journal)
    return Findings(
        TITLE,
        QUESTION,
        setting=tuple(_setting(readings)),
        claims=judge(readings),
        pictures=draw_pictures(readings),
        tables=tuple(_tables(readings)),
        notes=(*_absent(journal), *readings.missing(), *SCOPE, NVIDIA),
    )


def _setting(readings: Readings) -> Iterator[str]:
    settings, environment = readings.settings, readings.journal.environment
    yield f"{environment.get('CPU', 'unknown CPU')}, {environment.get('cores', '?')} cores"
    sizes = ", ".join(f"{photos.distinct} of {photos.name}" for photos in settings.sizes)
    origin = "made by penstock" if settings.photos is None else "real ones, fitted to these sizes"
    yield f"distinct photos, {origin} (JPEG, 4:2:0, quality 90): {sizes}"
    fewer = [photos for photos in settings.sizes if photos.most_iterations < settings.iterations]
    but = "".join(f" ({photos.name}: {photos.most_iterations})" for photos in fewer)
    yield f"{settings.iterations} iterations{but}, in each of which every library has its turn"
    yield (
        "one core and one thread for each, but OpenCV, all threads; penstock: whole epochs of a "
        "Loader with one thread"
    )
    yield "rotate by 30 degrees; brightness 1.3, contrast 0.7; crop of the middle half"
    origin = (
        f"{settings.voc_photos} distinct photos made by penstock"
        if settings.voc is None
        else settings.voc
    )
    yield f"detector: {origin}, in Pascal VOC's layout; batches of {settings.batch_size}"


def _absent(journal: Journal) -> Iterator[str]:
    for name, told_of in journal.environment.items():
        if told_of.startswith("not measured: "):
            yield f"{name}: {told_of}"
        elif name.endswith(", note"):
            yield f"{told_of}."


def _tables(readings: Readings) -> Iterator[Table]:
    for photos in readings.settings.sizes:
        ops = readings.ops(photos)
        count = f"{_distinct(photos.distinct)} of {photos.name}"
        if ops:
            rows = [
                (name, str(found[OPS[0]][0]), *(str(found[op][1]) for op in OPS))
                for name, found in ops.items()
            ]
            alone = [
                (name, *(told(found[op][1].median - found[op][0].median) for op in OPS))
                for name, found in ops.items()
            ]
            yield Table(
                f"Operations with loading, {count}",
                ("ms per image", LOAD, *OPS),
                rows,
                "Median (least-largest) of all iterations.",
            )
            yield Table(
                f"Operations without loading, {count}",
                ("ms per image", *OPS),
                alone,
                "Differences of medians; negative where doing both at once is cheaper than loading "
                "all of the photo.",
            )
        chains = [(chain, readings.chain(photos, chain)) for chain in CHAINS]
        if all(found for _, found in chains):
            names = chains[0][1]
            yield Table(
                f"Whole chains, {count}",
                ("ms per image", *(chain.name for chain, _ in chains)),
                [(name, *(str(found[name][-1]) for _, found in chains)) for name in names],
                "From the file to the array: median (least-largest).",
            )
        pixels = readings.pixels(photos)
        if pixels:
            works = list(next(iter(pixels.values())))
            yield Table(
                f"Difference to Pillow in levels of 255, one photo of {photos.name}",
                ("mean / largest", *works),
                [
                    (name, *(_levels(found.get(work)) for work in works))
                    for name, found in pixels.items()
                    if name != "Pillow"
                ],
                "Rotations differ most along the edge of the photo: Pillow cuts it off, others let "
                "it fade. Relaxed rules change what is computed, as they say.",
            )
    yield from _detector_tables(readings)


def _detector_tables(readings: Readings) -> Iterator[Table]:
    loading, settings = readings.loading(), readings.settings
    runs = readings.emulated().get("runs", [])
    trained = {(run["loader"], run["cores"]): run["images_per_s"] for run in runs}
    real = {run["loader"]: run["images_per_s"] for run in readings.real(LOADERS)}
    if loading:
        cores = sorted({count for _, count in loading})
        rows = []
        for name in LOADERS:
            alone = [
                str(loading[name, count]) if (name, count) in loading else "-" for count in cores
            ]
            both = [
                told(trained[name, count]) if (name, count) in trained else "-" for count in cores
            ]
            rows.append((name, *alone, *both, told(real[name]) if name in real else "-"))
        yield Table(
            "SSD-300 with a MobileNet backbone, images/s",
            (
                "",
                *(f"loading alone, {count} cores" for count in cores),
                *(f"emulated accelerator, {count} cores" for count in cores),
                "CPU trains",
            ),
            rows,
            f"{_voc_photos(settings)} Mirroring, jitter, resize to 300; boxes follow. The CPU "
            f"trains for real, with batches of {settings.real_batch_size}; the accelerator is "
            "emulated.",
        )
    lines = readings.found(LINES_KEY)
    if lines:
        total = sum(line["us"] for line in lines)
        yield Table(
            "Time by line of the plain Dataset (line_profiler)",
            ("line of __getitem__", "us per sample", "share"),
            [
                (line["code"][:_LONGEST_CODE], told(line["us"]), f"{line['us'] / total:.0%}")
                for line in lines
            ],
        )
    for name, said in (readings.found(TRANSLATION_KEY) or {}).items():
        yield Table(
            f"What accelerate makes of it: {name}",
            ("part", "what becomes of it"),
            [tuple([*line.split(None, 1), ""][:2]) for line in said],
        )


def _levels(difference: Sequence[float] | None) -> str:
    return "-" if difference is None else f"{difference[0]:.2g} / {difference[1]:.0f}"


def _voc_photos(settings: Settings) -> str:
    return f"{_distinct(settings.voc_photos)}." if settings.voc is None else "Photos of --voc."


def _distinct(photos: int) -> str:
    return "1 distinct photo" if photos == 1 else f"{photos} distinct photos"
