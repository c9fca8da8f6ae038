import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import analysis_samples
from penstock.errors import AnalysisError
from penstock.report import write_html
from penstock.report.vega import chart_script
from penstock.results.from_json import analysis_from_dict
from penstock.results.records import CoreRate, OpCost, Prediction, Rate, Steps, Utilisation

MOST_BYTES = 2_000_000


class Page(HTMLParser):
    """What a page is made of, as a browser would read it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.scripts, self.words = [], [], {}, ""
        self._script = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag == "script":
            self._script = dict(attrs).get("id", f"script {self.tags.count('script')}")

    def handle_endtag(self, tag):
        if tag == "script":
            self._script = None

    def handle_data(self, data):
        if self._script is None:
            self.words += data
        else:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data

    @property
    def ids(self):
        return {value for _, name, value in self.attributes if name == "id"}

    @property
    def charts(self):
        return json.loads(self.scripts["charts"])


@pytest.fixture
def draw(tmp_path):
    def draw(analysis, before=None):
        path = tmp_path / "report.html"
        write_html(analysis, path, before=before)
        assert path.stat().st_size < MOST_BYTES
        return Page(path.read_text(encoding="utf-8"))

    return draw


@pytest.mark.parametrize(
    ("after", "before"),
    [
        ("full", None),
        ("minimal", None),
        ("hostile", None),
        ("improved", "full"),
        ("full", "minimal"),
    ],
)
def test_nothing_is_fetched(draw, after, before):
    page = draw(
        getattr(analysis_samples, after)(), getattr(analysis_samples, before)() if before else None
    )

    assert not {"link", "img", "iframe", "object", "embed", "base"} & set(page.tags)
    assert not [name for _, name, _ in page.attributes if name in {"src", "href", "srcset"}]
    policy = next(value for _, _, value in page.attributes if value and "default-src" in value)
    assert policy.startswith("default-src 'none'")


def test_a_full_analysis_has_every_part(draw):
    page = draw(analysis_samples.full())

    assert page.ids >= {
        *("verdict", "lost-time", "throughput", "ops", "advice", "cores", "layers", "utilisation"),
        *("steps", "accuracy", "what-ifs", "predictions", "files", "environment", "raw"),
    }
    assert page.tags.count("figure") == len(page.charts) == 7
    for text in ("Decoding JPEGs holds training back", "2,400", "660", "3.82×", "emulated"):  # noqa: RUF001
        assert text in page.words
    assert "off by 2.5\u00a0% in the median, 3.0\u00a0% at worst" in page.words


def test_the_accelerators_time_is_split(draw):
    page = draw(analysis_samples.full())

    widths = [value for tag, name, value in page.attributes if (tag, name) == ("span", "style")]
    assert widths[:4] == ["width:25.40%", "width:3.00%", "width:71.00%", "width:0.60%"]
    titles = [value for _, name, value in page.attributes if name == "title"]
    assert "71\u00a0% waiting for images to be prepared" in titles


def test_the_first_epoch_has_a_bar_of_its_own(draw):
    page = draw(analysis_samples.full())

    widths = [value for tag, name, value in page.attributes if (tag, name) == ("span", "style")]
    assert widths[4:7] == ["width:17.50%", "width:7.08%", "width:75.42%"]
    assert "first epoch" in page.words


def test_lost_time_of_an_unknown_cause_is_told_too(draw):
    page = draw(replace(analysis_samples.full(), stall_parts={}, first_epoch=None))

    assert "waiting for data" in page.words
    assert "waiting for files" not in page.words


def test_lines_far_above_the_accelerators_have_a_scale_that_shows_both(draw):
    fast = tuple(CoreRate(c, Rate(c * 9e3, c * 9e3, c * 9e3), True) for c in (1, 2))
    page = draw(replace(analysis_samples.improved(), pipeline=fast))

    assert "The scale of rates is logarithmic." in page.words
    cores = next(chart for chart in page.charts if "CPU cores" in json.dumps(chart))
    least, largest = cores["layer"][1]["encoding"]["y"]["scale"]["domain"]
    assert least < 2290
    assert largest > 18_000


def test_the_verdict_comes_first(draw):
    page = draw(analysis_samples.full())

    assert page.tags.index("h1") < page.tags.index("h2")


def test_missing_parts_are_left_out(draw):
    page = draw(analysis_samples.minimal())

    assert page.charts == []
    assert "figure" not in page.tags
    assert "No verdict: 3 batches measured" in page.words
    assert not page.ids & {"advice", "predictions", "what-ifs", "files"}


@pytest.mark.parametrize(
    ("part", "identity"),
    [
        ({"ops": ()}, "ops"),
        ({"layers": ()}, "layers"),
        ({"pipeline": (), "end_to_end": ()}, "cores"),
        ({"utilisation": None}, "utilisation"),
        ({"utilisation": Utilisation("NVML", (), ())}, "utilisation"),
        ({"steps": None}, "steps"),
        ({"steps": Steps((), ())}, "steps"),
        ({"predictions": ()}, "accuracy"),
        ({"advice": ()}, "advice"),
    ],
)
def test_each_part_can_be_missing(draw, part, identity):
    page = draw(replace(analysis_samples.full(), **part))

    assert identity not in page.ids


def test_before_and_after_stand_side_by_side(draw):
    page = draw(analysis_samples.improved(), before=analysis_samples.full())

    assert "The loader alone is 16.7× as fast as before." in page.words  # noqa: RUF001
    assert "If your accelerator took 2,400 images/s, training would be 3.85×" in page.words  # noqa: RUF001
    assert "that accelerator could not take more" in page.words
    assert "decode-boundDecoding JPEGs" in page.words
    assert "before: end to end, 16 cores" in page.words
    assert len(json.loads(page.scripts["figures"])) == 2
    bars = page.charts[0]["data"]["values"]
    assert [bar["label"] for bar in bars if bar["what"] == "end to end"] == [
        "610 before",
        "2,350 after",
    ]


def test_a_slower_run_is_called_slower(draw):
    page = draw(analysis_samples.full(), before=analysis_samples.improved())

    assert "The loader alone is slower than before: 0.06× the rate." in page.words  # noqa: RUF001


def test_a_real_accelerators_gain_is_that_of_training(draw):
    was, now = (
        replace(one, is_emulated=False, device="cuda", assumption="")
        for one in (analysis_samples.full(), analysis_samples.improved())
    )
    page = draw(now, before=was)

    assert "Training is 3.85× as fast as before." in page.words  # noqa: RUF001
    assert "would" not in page.words.partition("Where the")[0].rpartition("as before.")[2]


def test_what_rests_on_an_assumption_says_so(draw):
    page = draw(analysis_samples.full())

    assert "Gains of training if your accelerator took 2,400 images/s." in page.words
    assert "Predicted end to end if your accelerator took 2,400 images/s" in page.words
    assert "Where the time of an accelerator of 2,400 images/s would go" in page.words
    assert "images/s, assumed" in page.words


def test_text_from_outside_never_becomes_markup(draw):
    page, harmless = draw(analysis_samples.hostile()), draw(analysis_samples.full())

    assert "img" not in page.tags
    assert page.tags.count("script") == harmless.tags.count("script")
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert analysis_samples.HOSTILE in page.words
    assert page.charts[1]["data"]["values"][0]["name"] == analysis_samples.HOSTILE


def test_predicted_rates_are_dashed_and_measured_ones_solid(draw):
    cores = next(
        chart for chart in draw(analysis_samples.full()).charts if _axis(chart, "CPU cores")
    )
    lines = next(layer for layer in cores["layer"] if layer["mark"]["type"] == "line")
    ends = {(row["x"], row["kind"]) for row in lines["data"]["values"]}

    assert (1, "measured") in ends
    assert (16, "predicted") in ends
    assert {(2, "measured"), (2, "predicted")} <= ends  # where one becomes the other
    assert (1, "predicted") not in ends
    assert lines["encoding"]["strokeDash"]["scale"]["range"] == [[1, 0], [6, 5]]


def test_long_series_are_thinned_without_losing_their_mean(draw):
    count = 10_007
    steps = Steps(tuple(i / count for i in range(count)), (0.5,) * count)
    page = draw(replace(analysis_samples.minimal(), steps=steps))
    rows = page.charts[0]["data"]["values"]

    assert len(rows) <= 400
    assert rows[0]["begin"] == 1
    assert rows[-1]["end"] == count + 1
    weights = [row["end"] - row["begin"] for row in rows]
    waited = sum((row["top"] - row["computed"]) * w for row, w in zip(rows, weights, strict=True))
    assert waited / count == pytest.approx(1e3 * sum(steps.waited) / count)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), 1.7e308, 1e14, 1e-300])
def test_odd_numbers_are_drawn_somehow(draw, value):
    odd = replace(
        analysis_samples.full(),
        synthetic=Rate(value, value, value),
        pipeline=(CoreRate(0, Rate(value, value, value), True), CoreRate(1, Rate(1, 1, 1), False)),
        ops=(OpCost("op", value, value, "core"),),
        predictions=(Prediction("a", value, value), Prediction("b", value, 0.0)),
        utilisation=Utilisation("NVML", (value, 1.0), (0.5, value)),
        steps=Steps((value,), (value,)),
        stall=value,
    )

    assert "decode-bound" in draw(odd).words


def test_figures_that_are_no_numbers_are_left_out(draw):
    nan = float("nan")
    ops = (OpCost("good", 3, 1, "core"), OpCost("bad", nan, 1, "core"))
    page = draw(replace(analysis_samples.minimal(), ops=ops, synthetic=Rate(nan, 1, 1), stall=nan))

    assert [row["name"] for row in page.charts[0]["data"]["values"]] == ["good"]
    assert len(page.charts) == 1


def test_a_long_training_fits_into_the_page(draw):
    count = 60_000
    ends, shares = tuple(i / 7 for i in range(1, count + 1)), (1 / 3,) * count
    long = replace(
        analysis_samples.full(),
        steps=Steps(shares, shares),
        utilisation=Utilisation("NVML", ends, shares),
    )
    saved = json.loads(draw(long, before=long).scripts["figures"])[0]

    assert len(saved["steps"]["waited"]) == len(saved["utilisation"]["busy"]) == 2000
    assert saved["utilisation"]["seconds"][-1] == ends[-1]
    assert saved["utilisation"]["busy"] == pytest.approx([1 / 3] * 2000)


def test_the_saved_figures_can_be_drawn_again(draw):
    saved = json.loads(draw(analysis_samples.full()).scripts["figures"])

    assert analysis_from_dict(saved[0]) == analysis_samples.full()


def test_ops_of_one_name_keep_a_bar_each(draw):
    ops = (OpCost("blur", 3, 0.5, "core"), OpCost("blur", 2, 0.5, "core"))
    page = draw(replace(analysis_samples.minimal(), ops=ops))

    assert [row["bar"] for row in page.charts[0]["data"]["values"]] == ["blur", "blur (2)"]


def test_colours_are_those_of_the_style_sheet(draw, tmp_path):
    draw(analysis_samples.full())
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    style = text[text.index("<style>") : text.index("</style>")]
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", text))

    assert used <= set(re.findall(r"(--[a-z0-9-]+):", style))


def test_a_missing_library_is_named(monkeypatch, tmp_path):
    chart_script.cache_clear()
    monkeypatch.setitem(sys.modules, "vl_convert", None)

    with pytest.raises(AnalysisError, match=r'pip install "penstock\[report\]"'):
        write_html(analysis_samples.full(), tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(AnalysisError, match=r"gone/report\.html: cannot write"):
        write_html(analysis_samples.minimal(), tmp_path / "gone" / "report.html")


def _axis(chart, title):
    return any(layer["encoding"].get("x", {}).get("title") == title for layer in chart["layer"])
