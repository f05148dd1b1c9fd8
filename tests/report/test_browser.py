"""The report in a real browser: pictures drawn, nothing asked of the network, no harm done."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from terminal import run

from hedgerow import Distortion, FlatLaplace, GaussianWeights, PureDP, RandomGraph
from hedgerow.evaluate import attack, evaluate
from hedgerow.kinds.graphs.cases import equip, graph_of
from hedgerow.reading import read
from hedgerow.report import report

pytestmark = pytest.mark.slow

NASTY = "</script><img src=x onerror=window.harmed=1>"
#: the charts of each page
DRAWN = {"owner": 5, "public": 3, "nasty": 5, "graphs": 11, "weights": 9}
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "a browser is needed here: apt-get install chromium"
    with sync_playwright() as playwright:
        held = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield held
        held.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    assert run("demo --out D", folder).code == 0
    assert run("report D/release --html D/public.html", folder).code == 0
    data = read([[NASTY, "b"]] * 90 + [["b"]] * 40, kind="sets", assert_public_domain=True)
    held = FlatLaplace().publish(data, PureDP(epsilon=1, unit="record"))
    (folder / "nasty.html").write_text(report([(NASTY, held)], [evaluate(held, data)]))
    network = graph_of([(i, (i + step) % 90) for step in (1, 2, 5) for i in range(90)], 90)
    published = RandomGraph().publish(network, PureDP(epsilon=1, unit="edge"))
    (folder / "graphs.html").write_text(report([("R", published)], [evaluate(published, network)]))
    roads = equip(network, ("weights", "directions"))
    multiplied = GaussianWeights().publish(roads, Distortion())
    scores = [*evaluate(multiplied, roads), *attack(multiplied, roads)]
    (folder / "weights.html").write_text(report([("W", multiplied)], [scores]))
    return {
        "owner": folder / "D" / "report.html",
        "public": folder / "D" / "public.html",
        "nasty": folder / "nasty.html",
        "graphs": folder / "graphs.html",
        "weights": folder / "weights.html",
    }


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", DRAWN)
def test_the_report_is_drawn(browser, pages, name, scheme, width, tmp_path):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    try:
        page.goto(pages[name].as_uri())
        page.wait_for_function("document.body.dataset.drawn")
        drawn = int(page.evaluate("document.body.dataset.drawn"))
        plots = page.locator(".plot svg")
        assert drawn == plots.count() == DRAWN[name]
        for number in range(drawn):
            box = plots.nth(number).bounding_box()
            assert box["width"] > 200
            assert box["height"] > 40
            assert plots.nth(number).locator(".mark-rect path, .mark-symbol path").count() > 0
        assert said == []
        assert asked == [pages[name].as_uri()]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("window.harmed") is None
        banner = page.locator(".owner")
        assert banner.count() == (name != "public")
        if name != "public":  # it stays on every screen
            page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
            assert banner.bounding_box()["y"] >= 0
    except BaseException:
        page.screenshot(path=tmp_path / "failed.png", full_page=True)
        raise
    finally:
        page.close()


def test_a_nasty_name_is_shown_as_it_is(browser, pages):
    page = browser.new_page()
    page.goto(pages["nasty"].as_uri())
    page.wait_for_function("document.body.dataset.drawn")
    assert page.locator("img").count() == 0
    shown = "".join(page.locator("svg").all_text_contents())
    assert NASTY[:13] in shown  # as text, on an axis
    page.close()


def test_the_page_prints(browser, pages):
    page = browser.new_page()
    page.goto(pages["owner"].as_uri())
    page.wait_for_function("document.body.dataset.drawn")
    printed = page.pdf()
    page.close()
    assert printed.startswith(b"%PDF")
    assert len(printed) > 20_000


def test_print_says_what_is_not_covered(browser, pages):
    page = browser.new_page()
    page.goto(pages["owner"].as_uri())
    page.emulate_media(media="print")
    assert page.get_by_text("Other releases. The epsilons").is_visible()
    page.close()


def test_the_page_names_no_file_and_no_address(pages):
    text = Path(pages["owner"]).read_text()
    assert "sourceMappingURL" not in text
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"(?:src|href)=|https?:", own)
