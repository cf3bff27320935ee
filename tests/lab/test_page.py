"""The page in a real browser: start, watch, stop, continue, look, take away."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from .conftest import FILE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def program(*names: str) -> str:
    """The path of a program; skips the test when there is none."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"no {names[0]} here: on Debian, apt-get install chromium chromium-driver")
    return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    binary, driver = program("chromium", "chromium-browser", "google-chrome"), program("chromedriver")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    profile = tmp_path_factory.mktemp("profile")
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    made.set_window_size(1400, 1000)
    yield made
    made.quit()


@pytest.fixture
def address(tmp_path, door):
    """The address of a server in a process of its own."""
    command = [sys.executable, "-m", "millstream.lab", "serve", "--port", "0"]
    command += ["--folder", str(tmp_path / "lab"), "--file", FILE]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        yield re.search(r"http://\S+/", server.stdout.readline()).group()
        server.terminate()


def wait(browser, condition, seconds=60):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, seconds, poll_frequency=0.1).until(condition)


def text_of(browser, selector: str) -> str:
    return browser.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)


def start(browser, *names: str, quick: bool) -> None:
    for name in names:
        browser.find_element("css selector", f"[value={name}]").click()
    if not quick:
        browser.find_element("id", "quick").click()
    browser.find_element("id", "start").click()


def test_page_starts_stops_continues_and_shows(browser, address, door, tmp_path):
    os.mkfifo(door / "door1")
    browser.get(address)
    assert "Nothing has been measured yet" in text_of(browser, "main")
    start(browser, "waits", "measures", quick=False)
    with (door / "door1").open("wb"):  # the second point waits now: there is time to look
        wait(browser, lambda b: "waits: n 1" in text_of(b, "#present"))
        assert "Run 1: 1 of 5 points" in text_of(browser, "#headline")
        wait(browser, lambda b: b.find_elements("css selector", "#live polyline"))
        lines = browser.find_elements("css selector", "#live polyline")
        assert len(lines) == os.cpu_count()
        assert "this experiment" in text_of(browser, "#legend")
        browser.find_element("id", "stop").click()
        wait(browser, lambda b: "stopped" in text_of(b, "#headline"))
    (door / "door1").unlink()
    browser.find_element("id", "resume").click()
    wait(browser, lambda b: text_of(b, "#headline") == "Run 1: 5 of 5 points")
    wait(browser, lambda b: "squares are squares" in text_of(b, "#waits .confirmed"))
    wait(browser, lambda b: "1 confirmed" in text_of(b, "#status .tally"))
    wait(browser, lambda b: len(b.find_elements("css selector", "#waits tbody tr")) == 8)
    picture = tmp_path / "page.png"
    browser.save_screenshot(str(picture))
    assert picture.stat().st_size > 10_000


def test_page_draws_plots_queries_and_loads(browser, address):
    browser.get(address)
    start(browser, "engine", quick=True)
    wait(browser, lambda b: text_of(b, "#headline") == "Run 1: 2 of 2 points")
    loaded = "return [...document.querySelectorAll('#engine .plot img')].map(i => i.naturalWidth > 100)"
    wait(browser, lambda b: b.execute_script(loaded) == [True, True])
    assert browser.find_elements("css selector", "#engine .drawing svg .node")
    assert [entry for entry in browser.get_log("browser") if address in entry["message"]] == []


def test_page_says_what_is_wrong(browser, address):
    browser.get(address)
    browser.find_element("id", "start").click()
    wait(browser, lambda b: text_of(b, "#message") == "Choose at least one experiment.")


def test_report_opens_in_the_browser_without_the_server(browser, address, tmp_path, lab):
    from millstream.lab.report import write

    path = write(lab, lab.run(["engine"], quick=True))
    browser.get(path.as_uri())
    assert "Push and pull against a naive implementation" in text_of(browser, "main")
    broken = "return [...document.images].filter(i => !i.naturalWidth).length"
    assert browser.execute_script(broken) == 0


def test_page_of_another_site_cannot_start_anything(browser, address, tmp_path):
    evil = tmp_path / "evil.html"
    evil.write_text("<title>evil</title>")
    browser.get(evil.as_uri())
    script = """
    const done = arguments[1], body = JSON.stringify({experiments: ["waits"], quick: true});
    const sent = fetch(arguments[0] + "start", {method: "POST", mode: "no-cors", body});
    sent.then(() => done("sent"), () => done("failed"));
    """
    browser.execute_async_script(script, address)
    browser.get(address)
    assert "Nothing has been measured yet" in text_of(browser, "main")
