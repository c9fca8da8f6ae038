import PIL.Image
import pytest

pytest.importorskip("torch")

from benchmarks import strangers
from penstock import TranslationError
from penstock.translation.transforms.lines import Log

OPTIONS = ("--images", "5", "--rounds", "1")


class Accelerated:
    """The DataLoader itself, as though it had been accelerated; or without its first batch."""

    def __init__(self, loader, skipped):
        log = Log("data")
        log.native("files", "files")
        log.python("collate", "as it is", 12.0)
        log.native("order", "order")
        self.translation, self.is_closed = log.translation(), False
        self._loader, self._skipped = loader, skipped

    def __iter__(self):
        yield from list(self._loader)[self._skipped :]

    def close(self):
        self.is_closed = True


@pytest.fixture
def quick(monkeypatch, torchvision):
    monkeypatch.setattr(strangers.os, "sched_setaffinity", lambda *_: None, raising=False)
    monkeypatch.setattr(strangers.torch, "set_num_threads", lambda _: None)
    for name, value in {"LEAST_S": 0.0, "CORES": 1, "IMG_SIZE": 16, "EPOCHS": 1}.items():
        monkeypatch.setattr(strangers, name, value)


@pytest.fixture
def photos(photo, tmp_path):
    PIL.Image.fromarray(photo[:60, :80]).save(tmp_path / "photo.jpg")
    return str(tmp_path)


def rows(table):
    cells = (line.strip("| ").split("|") for line in table.splitlines() if line.startswith("|"))
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in cells}


def test_each_is_taken_or_refused(quick, photos, capsys, monkeypatch):
    skipped = {"by_hand_arrays": 0, "folder_with_paths": 1}
    made = []

    def accelerated(loader):
        name = {"ByHand": "by_hand_arrays", "ImageFolderWithPaths": "folder_with_paths"}
        kind = type(loader.dataset).__name__
        if kind not in name:
            raise TranslationError(f"{kind}: no.", (f"{kind}: its order is its own",))
        made.append(Accelerated(loader, skipped[name[kind]]))
        return made[-1]

    monkeypatch.setattr(strangers, "accelerated", accelerated)
    names = "by_hand_arrays,folder_with_paths,iterable_stream,detection_by_hand"

    assert strangers.main(["--data", photos, *OPTIONS, "--only", names]) == 0

    printed = capsys.readouterr().out
    table = rows(printed)
    assert table["by_hand_arrays"][:2] == ["pillow numpy", "read"]
    assert table["by_hand_arrays"][-1] == "yes"
    assert table["folder_with_paths"][-1].startswith("no: batches[0]")
    assert table["iterable_stream"][1:] == ["refused", *["-"] * 4]
    assert "- iterable_stream: Stream: its order is its own\n" in printed
    assert table["detection_by_hand"][1] == "refused"
    assert table["detection_by_hand"][2] != "-"
    assert "- detection_by_hand: YoloStyle" in printed
    assert "2 of 4 were taken, 1 of them with the same batches; " in printed
    assert len(made) == 4
    assert all(loader.is_closed for loader in made)


def test_batches_that_differ_from_run_to_run_are_not_compared(tmp_path):
    clock = next(one for one in strangers.STRANGERS if one.name == "seeded_by_clock")

    assert strangers.compare(clock, tmp_path) == "differ from run to run"


def test_a_table_can_be_written(quick, photos, tmp_path, monkeypatch):
    monkeypatch.setattr(strangers, "RESULT", tmp_path / "strangers.md")

    assert strangers.main(["--data", photos, *OPTIONS, "--only", "thumbnails", "--write"]) == 0

    text = (tmp_path / "strangers.md").read_text("utf-8")
    assert text.startswith("# DataLoaders of strangers\n")
    assert "| thumbnails" in text


def test_a_folder_without_photos_is_named(tmp_path, capsys):
    assert strangers.main(["--data", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("--only", "nobody"), ("--rounds", "0")])
def test_what_is_not_there_is_named(arguments, capsys):
    with pytest.raises(SystemExit):
        strangers.main(arguments)
    assert arguments[0].strip("-").replace("only", "nobody") in capsys.readouterr().err
