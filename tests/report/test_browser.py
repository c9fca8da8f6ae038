"""Reports in a real browser: drawn, quiet, readable everywhere, and with values to hover over."""

import json
import os
import shutil

import pytest

import analysis_samples
from penstock.analysis.analyze import without_conclusions
from penstock.report import write_html

WAIT_S = 60  # a busy machine starts a browser slowly
PHONE, DESK = (390, 844), (1280, 900)
BUSY = "No verdict: other programs used 48% of the cores."

webdriver = pytest.importorskip("selenium.webdriver")
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402


@pytest.fixture(scope="module")
def browser():
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        pytest.skip("no chromium with chromedriver: scripts/system_packages.sh browser")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to have one as root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Paths of reports by name."""
    folder = tmp_path_factory.mktemp("reports")
    drawn = {
        "full": (analysis_samples.full(), None),
        "minimal": (analysis_samples.minimal(), None),
        "compared": (analysis_samples.improved(), analysis_samples.full()),
        "hostile": (analysis_samples.hostile(), None),
        "busy": (without_conclusions(analysis_samples.full(), BUSY), None),
        "many places": (analysis_samples.in_many_places(), None),
    }
    for name, (analysis, before) in drawn.items():
        write_html(analysis, folder / f"{name}.html", before=before)
    return {name: folder / f"{name}.html" for name in drawn}


@pytest.fixture
def show(browser, reports):
    """Return a function that opens a report and waits for its charts."""

    def show(name, size=DESK, theme="light"):
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        theme_feature = {"name": "prefers-color-scheme", "value": theme}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme_feature]})
        browser.get("about:blank")
        for kind in ("browser", "performance"):
            browser.get_log(kind)
        browser.get(reports[name].as_uri())
        drawn = "return document.documentElement.dataset.drawn"
        WebDriverWait(browser, WAIT_S).until(lambda b: b.execute_script(drawn) is not None)
        return browser

    return show


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("name", ["full", "minimal", "compared", "hostile"])
def test_reports_are_drawn_quietly_and_fit(show, name, size):
    browser = show(name, size)

    charts = browser.execute_script("return document.querySelectorAll('.chart').length")
    assert browser.execute_script("return document.querySelectorAll('.chart svg').length") == charts
    assert charts == {"full": 7, "minimal": 0, "compared": 10, "hostile": 7}[name]
    assert browser.get_log("browser") == []
    assert _requests(browser) == [browser.current_url]
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= size[0]
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0


@pytest.mark.parametrize("name", ["full", "compared", "many places"])
def test_labels_stay_inside_their_charts(show, name):
    browser = show(name, PHONE)

    cut = browser.execute_script("""
      return [...document.querySelectorAll('.chart')].flatMap((chart) => {
        const frame = chart.getBoundingClientRect();
        const legend = [...chart.parentElement.querySelectorAll('.legend span')];
        return [...chart.querySelectorAll('text'), ...legend].filter((text) => {
          const box = text.getBoundingClientRect();
          return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1);
        }).map((text) => text.textContent);
      });
    """)
    assert cut == []


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("name", ["full", "compared", "many places"])
def test_no_line_leaves_its_plot(show, name, size):
    browser = show(name, size)

    outside = browser.execute_script("""
      return [...document.querySelectorAll('#cores, #layers')].flatMap((figure) => {
        const plot = figure.querySelector('path.background').getBoundingClientRect();
        return [...figure.querySelectorAll('.mark-line path, .mark-symbol.role-mark path')]
          .map((mark) => mark.getBoundingClientRect())
          .filter((box) => box.top < plot.top - 8 || box.bottom > plot.bottom + 8)
          .map((box) => [figure.id, box.top - plot.top, box.bottom - plot.bottom]);
      });
    """)
    assert outside == []


def test_doubtful_figures_have_a_banner_and_no_headline(show):
    browser = show("busy")

    assert browser.find_element("css selector", ".banner").text == BUSY
    for absent in ("h1", "#what-ifs", "#advice", "#throughput", "#cores", "#lost-time"):
        assert browser.find_elements("css selector", absent) == []


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_the_accelerators_time_fills_its_bars(show, size):
    browser = show("compared", size)

    shares = browser.execute_script("""
      return [...document.querySelectorAll('#lost-time .time')].map((bar) => {
        const widths = [...bar.children].map((piece) => piece.getBoundingClientRect().width);
        return widths.reduce((sum, width) => sum + width, 0) / bar.clientWidth;
      });
    """)
    assert len(shares) == 4  # each run, and its first epoch
    assert all(0.95 < share <= 1 for share in shares)


@pytest.mark.parametrize(
    ("figure", "mark", "words"),
    [
        ("throughput", ".mark-rect path", ["accelerator, assumed", "2,400", "2,376 to 2,424"]),
        ("ops", ".mark-rect path", ["decode", "1,720", "61", "Pillow", "libjpeg-turbo"]),
        ("cores", ".mark-symbol path:nth-of-type(4)", ["end to end", "610", "measured"]),
        ("layers", ".mark-symbol path", ["pipeline alone", "660"]),
        ("utilisation", ".mark-rect path:nth-of-type(80)", ["3.95 to 4.00 s"]),
        ("steps", ".mark-rect path:nth-of-type(90)", ["90", "computing", "waiting for data"]),
        ("accuracy", ".mark-symbol path", ["end to end, 1 core", "338 images/s", "2.4"]),
    ],
)
def test_hovering_shows_values(show, figure, mark, words):
    browser = show("full")
    element = browser.find_element("css selector", f"#{figure} .role-mark{mark}")
    # The drawn part of a mark, not the middle of its box, must lie under the pointer.
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    webdriver.ActionChains(browser).move_to_element(element).perform()

    tip = browser.find_element("id", "tip")
    assert tip.is_displayed()
    for word in words:
        assert word in tip.text

    webdriver.ActionChains(browser).move_by_offset(0, 0).move_to_element(
        browser.find_element("css selector", f"#{figure} h2")
    ).perform()
    assert not tip.is_displayed()


def test_hostile_names_are_shown_in_the_tip_as_text(show):
    browser = show("hostile")
    element = browser.find_element("css selector", "#ops .role-mark.mark-rect path")
    webdriver.ActionChains(browser).move_to_element(element).perform()

    tip = browser.find_element("id", "tip")
    assert "<img src=x onerror=alert(2)>" in tip.text
    assert browser.execute_script("return arguments[0].querySelectorAll('img').length", tip) == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_follows_the_system_and_the_button(show, theme):
    browser = show("full", theme=theme)
    other = {"light": "dark", "dark": "light"}[theme]

    colours = [_page_and_ink(browser)]
    browser.find_element("id", "theme").click()
    colours.append(_page_and_ink(browser))

    assert browser.execute_script("return document.documentElement.dataset.theme") == other
    is_dark = [page < ink for page, ink in colours]
    assert is_dark == [theme == "dark", other == "dark"]


def test_print_is_dark_on_white(show):
    browser = show("full", theme="dark")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    themed = "return document.documentElement.dataset.theme"
    WebDriverWait(browser, WAIT_S).until(lambda b: b.execute_script(themed) == "light")

    page = browser.execute_cdp_cmd("Page.printToPDF", {})
    assert len(page["data"]) > 10_000


def test_the_line_to_write_is_copied_or_selected(show):
    browser = show("full")
    button = browser.find_element("css selector", "button.copy")
    button.click()

    WebDriverWait(browser, WAIT_S).until(lambda _: button.text in {"Copied", "Selected"})
    selected = browser.execute_script("return getSelection().toString()")
    assert selected.startswith("penstock pack train train.pen")


def _requests(browser):
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in urls if url != "about:blank"]


def _page_and_ink(browser):
    """Return how bright the page and the large sentence on it are."""
    colours = browser.execute_script("""
      return [getComputedStyle(document.body).backgroundColor,
              getComputedStyle(document.querySelector('h1')).color];
    """)
    return [sum(int(part) for part in text[4:-1].split(",")) for text in colours]
