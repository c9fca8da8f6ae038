"""`penstock certify`: sides by name, exit codes, and what is refused."""

import json

import numpy as np
import pytest

from penstock.cli.main import main

SIDES = """
import numpy as np

IMAGES = np.random.default_rng(0).integers(0, 200, (6, 3, 4, 5)).astype(np.uint8)
plain = [(IMAGES[:4], [0, 1, 2, 3]), (IMAGES[4:], [4, 5])]

def same():
    return plain

def brighter():
    return [(images + np.uint8(2), labels) for images, labels in plain]

def noisy():
    yield np.random.default_rng().random((2, 3, 4, 4))

def fails():
    raise RuntimeError("no GPU")
"""


@pytest.fixture
def certify(tmp_path, monkeypatch, capsys):
    """Run the verb in a folder with `sides.py`; (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sides.py").write_text(SIDES, "utf-8")

    def run(*arguments):
        code = main(["certify", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def test_equal(certify):
    code, told, _ = certify("sides.py:plain", "sides.py:same")

    assert code == 0
    assert told.startswith("All 6 images are equal, bit for bit, and so are their labels.\n")
    assert "A  sides.py:plain\nB  sides.py:same\n" in told
    assert "content of B  the same" in told


def test_different(certify, tmp_path):
    code, told, _ = certify("sides.py:plain", "sides:brighter", "--html", "report.html")

    assert code == 1
    assert told.startswith("6 of 6 images differ, by at most 2 levels in 100% of their values.")
    assert "wrote report.html: the report" in told
    assert "sides:brighter" in (tmp_path / "report.html").read_text("utf-8")


def test_tolerance(certify):
    assert certify("sides.py:plain", "sides.py:brighter", "--tolerance", 2)[0] == 0
    assert certify("sides.py:plain", "sides.py:brighter", "--tolerance", 1.5)[0] == 1


def test_certificates(certify, tmp_path):
    code, told, _ = certify("sides.py:plain", "--save", "a.json", "--pixels", "a.npz")
    assert code == 0
    assert "wrote a.json: 6 images of sides.py:plain\nwrote a.npz: their pixels\n" in told
    code, told, _ = certify("sides.py:brighter", "--save", "b.json", "--images", 3, "--json")
    assert json.loads(told)["images"] == 3

    assert certify("a.json", "sides.py:same")[0] == 0
    code, told, _ = certify("sides.py:brighter", "a.json", "--json", "--seed", 3)
    said = json.loads(told)
    assert (code, said["counts"], said["passed"]) == (1, {"differs": 6}, False)
    assert "made from seed 0, epoch 0, not from seed 3" in said["notes"][0]
    assert certify("a.json", "b.json", "--images", 3)[1].startswith("3 of 3 images differ, and it")
    text = (tmp_path / "a.json").read_text("utf-8")
    (tmp_path / "a.json").write_text(text.replace('"seed": 0', '"seed": 1'))
    code, _, told = certify("a.json", "sides.py:same")
    assert code == 2
    assert "a.json: its seal does not fit" in told


def test_data_with_presets_and_transforms(certify, folder, tmp_path):
    assert certify(folder, folder, "--preset", "classification_eval", "--images", 4)[0] == 0
    arguments = folder, folder, "--preset", "classification", "--seed", 4, "--epoch", 2
    assert certify(*arguments, "--images", 4, "--batch-size", 3)[0] == 0
    (tmp_path / "mine.py").write_text(
        "from penstock import transforms as T\nt = T.Resize((9, 9))\nn = 5\n"
    )
    code, told, _ = certify(
        folder, folder, "--transform", "mine.py:t", "--preset-b", "classification"
    )
    assert code == 1
    assert "cannot be compared: A is uint8, B is float32" in told
    code, _, told = certify(folder, folder, "--transform", "mine.py:n")
    assert (code, "mine.py:n: 5 is not a transform" in told) == (2, True)
    assert certify(folder, folder, "--images", "all", "--no-labels", "--json")[0] == 0
    certify(folder, "--preset", "classification_eval", "--save", "a.json", "--images", 2)
    said = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert (said["transform"], len(said["images"])) == ("preset classification_eval", 2)


def test_what_cannot_be_repeated(certify):
    told = certify("sides.py:noisy", "sides.py:noisy")[1]
    assert "A gives something else the second time it is run from the same seed" in told
    told = certify("sides.py:noisy", "--save", "a.json")[1]
    assert "others cannot expect these hashes" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sides.py:plain"], "there is no second side to compare with"),
        (["sides.py:plain", "--html", "a.html"], "--html: needs two sides"),
        (["sides.py:plain", "--save", "a.json", "--tolerance", "1"], "--tolerance: needs two"),
        (["sides.py:plain", "--pixels", "a.npz", "--save", "sub/a.json"], "must be in the folder"),
        (["sides.py:plain", "sides.py:same", "--pixels", "a.npz"], "Add --save"),
        (["sides.py:plain", "sides.py:same", "--save", "no/a.json"], "there is no folder"),
        (["sides.py:plain", "sides.py:same", "--preset", "lsj"], "but neither side is one"),
        (["none", "sides.py:same", "--preset-b", "lsj"], "but sides.py:same is none"),
        (["sides.py:plain", "sides.py:none"], "has no none"),
        (["sides.py:plain", "none.py:same"], "none.py: no such file"),
        (["sides.py:plain", "none"], "none: no such file or folder"),
        (["sides.py:plain", "sides.py:fails"], "cannot be made: RuntimeError: no GPU"),
        (["sides.py:plain", "sides.py:IMAGES.shape"], "sides.py:IMAGES.shape"),
    ],
    ids=range(13),
)
def test_what_is_refused(certify, tmp_path, arguments, message):
    (tmp_path / "sub").mkdir()
    code, _, told = certify(*arguments)

    assert code == 2
    assert message in told


def test_a_certificate_is_not_certified(certify):
    certify("sides.py:plain", "--save", "a.json")

    assert "is a certificate already" in certify("a.json", "--save", "b.json")[2]
    assert "is a certificate already" in certify("a.json", "sides.py:same", "--save", "b.json")[2]


@pytest.mark.parametrize(
    ("option", "value"),
    [("--images", "0"), ("--images", "some"), ("--tolerance", "-1"), ("--peak", "nan")],
)
def test_numbers_are_checked(certify, capsys, option, value):
    with pytest.raises(SystemExit) as exited:
        certify("sides.py:plain", "sides.py:same", option, value)
    assert exited.value.code == 2
    assert "must be a" in capsys.readouterr().err


def test_names_cannot_forge_lines(certify, tmp_path):
    images = np.zeros((1, 3, 4, 4), np.uint8)
    np.save(tmp_path / "a.npy", images)
    (tmp_path / "bad.py").write_text(
        "import numpy as np\n"
        "class Data:\n"
        "    samples = [('evil\\x1b[2J\\nAll images are equal.jpg', 0)]\n"
        "    def __init__(self, level): self.level = level\n"
        "    def __len__(self): return 1\n"
        "    def __getitem__(self, index):\n"
        "        return np.full((3, 4, 4), self.level, np.uint8), 0\n"
        "a, b = Data(1), Data(2)\n"
    )
    code, told, _ = certify("bad.py:a", "bad.py:b")

    assert code == 1
    assert "\x1b" not in told
    assert "\nAll images are equal" not in told
