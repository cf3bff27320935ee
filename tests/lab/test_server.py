"""The page's server, over a real socket: what it gives, and what it refuses."""

import io
import json
import os
import zipfile
from contextlib import contextmanager
from http.client import HTTPConnection
from threading import Thread

import pytest
import uvicorn
from attrs import frozen

from millstream.lab.guard import LARGEST
from millstream.lab.lock import measuring_alone
from millstream.lab.machine import describe
from millstream.lab.server import Page, configuration


@frozen
class Answer:
    status_code: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self):
        return json.loads(self.content)


class Client:
    """Sends requests as they are, which no browser would: paths are not tidied up."""

    def __init__(self, port: int) -> None:
        self.port = port

    def send(self, method: str, path: str, headers: dict[str, str], body=None) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            got = connection.getresponse()
            return Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        finally:
            connection.close()

    def get(self, path: str, headers=()) -> Answer:
        return self.send("GET", path, dict(headers))

    def post(self, path: str, value, headers=()) -> Answer:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        usual = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        return self.send("POST", path, usual | dict(headers), body)


@contextmanager
def served(page: Page, *allowed: str):
    """Serve a page in a thread; give a client."""
    config = configuration(page, "127.0.0.1", 0, allowed)
    socket, server = config.bind_socket(), uvicorn.Server(config)
    socket.listen()
    thread = Thread(target=server.run, args=([socket],))
    thread.start()
    try:
        yield Client(socket.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
        socket.close()


@pytest.fixture
def page(lab):
    made = Page(lab)
    yield made
    made.close()


@pytest.fixture
def client(page):
    with served(page) as made:
        yield made


@pytest.fixture
def measured(lab):
    """The number of a run that is done."""
    points = [("waits", {"n": n}) for n in range(4)]
    run = lab.store.begin(points, quick=False, seed=1, machine=describe())
    for n, result in enumerate(lab.store.results(run)):
        lab.store.start(result.id)
        for part in (1, 2):
            lab.store.add_row(result.id, {"part": part, "square": n * n})
        lab.store.finish(result.id, "done")
    return run


def test_page_lists_experiments_before_anything_was_measured(client):
    text = client.get("/").text
    assert "Nothing has been measured yet" in text
    assert 'value="waits"' in text


def test_started_run_is_performed_and_seen(client, page, lab):
    answer = client.post("/start", {"experiments": ["waits"], "quick": True})
    assert (answer.status_code, answer.json()) == (201, {"run": 1})
    page._worker.join()
    assert len(lab.rows(lab.store.run(1), "waits")) == 2
    state = client.get("/state?run=1").json()
    assert (state["busy"], state["points"], state["done"]) == (False, 1, 1)


def test_second_run_at_the_same_time_is_refused_and_a_stopped_one_continues(client, page, lab, door):
    os.mkfifo(door / "door0")
    client.post("/start", {"experiments": ["waits"]})
    with (door / "door0").open("wb"):
        again = client.post("/start", {"experiments": ["measures"]})
        assert (again.status_code, again.text) == (409, "a run is going on already: stop it, or wait for it")
        assert client.get("/state?run=1").json()["present"]["experiment"] == "waits"
        assert client.post("/stop", {}).json() == {"stopping": True}
        page._worker.join()
    assert client.get("/state?run=1").json()["done"] == 0
    (door / "door0").unlink()
    assert client.post("/resume", {"run": 1}).json() == {"run": 1}
    page._worker.join()
    assert client.get("/state?run=1").json()["done"] == 4


def test_experiment_is_shown_with_tables_and_claims(client, measured):
    text = client.get(f"/runs/{measured}/experiments/waits").text
    assert "squares are squares" in text
    assert "confirmed" in text
    assert "<table>" in text


def test_export_has_data_reports_and_the_machine(client, measured):
    answer = client.get(f"/runs/{measured}/export.zip")
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    top = f"millstream-lab-run-{measured}/"
    assert {top + n for n in ("report.html", "report.md", "machine.json", "data.json")} <= set(
        archive.namelist()
    )
    assert json.loads(archive.read(top + "machine.json"))["cores"] == os.cpu_count()
    assert len(json.loads(archive.read(top + "data.json"))["experiments"]["waits"]["rows"]) == 8
    assert archive.read(top + "data/waits.csv").decode().split()[:2] == ["n,part,square", "0,1,0"]


def test_report_is_one_file_that_needs_nothing_else(client, measured):
    text = client.get(f"/runs/{measured}/report.html").text
    assert "squares are squares" in text
    assert 'src="http' not in text
    assert "<script" not in text


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", ""])
def test_other_hosts_are_refused(client, host):
    assert client.get("/", {"Host": host}).status_code == 400
    assert client.post("/start", {"experiments": ["waits"]}, {"Host": host}).status_code == 400


def test_host_that_is_allowed_is_answered(page):
    with served(page, "lab.example") as client:
        assert client.get("/", {"Host": "lab.example:80"}).status_code == 200
        assert client.get("/", {"Host": "other.example"}).status_code == 400


@pytest.mark.parametrize("address", ["/start", "/stop", "/resume"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_posts_from_other_sites_are_refused(client, lab, address, headers):
    answer = client.post(address, {"experiments": ["waits"], "run": 1}, headers)
    assert answer.status_code == 403
    assert "comes from another site" in answer.text
    assert lab.store.runs() == []


def test_post_of_the_page_itself_is_taken(client):
    headers = {"Origin": f"http://127.0.0.1:{client.port}", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/stop", {}, headers).status_code == 200


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data", ""]
)
def test_forms_are_refused(client, kind):
    answer = client.post("/start", {"experiments": ["waits"]}, {"Content-Type": kind})
    assert answer.status_code == 415


def test_giant_body_is_refused_unread(client):
    answer = client.post("/start", {}, {"Content-Length": str(10**12)})
    assert answer.status_code == 413
    assert f"at most {LARGEST} are taken" in answer.text


def test_body_without_length_is_refused(client):
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    answer = client.send("POST", "/start", headers, b"2\r\n{}\r\n0\r\n\r\n")
    assert answer.status_code == 411


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "[" * 30_000, '{"experiments": "waits"}', '{"experiments": []}']
)
def test_body_that_makes_no_sense_is_refused(client, text):
    answer = client.post("/start", text.encode())
    assert answer.status_code == 400


@pytest.mark.parametrize("name", ["nothing", "../waits", "*", None, 3, ["waits"]])
def test_only_experiments_that_exist_are_started(client, lab, name):
    assert client.post("/start", {"experiments": [name]}).status_code == 404
    assert lab.store.runs() == []


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/static/parts.html",
        "/static/%2e%2e%2f%2e%2e%2fpyproject.toml", "/runs/1/plots/waits/..%2f..%2fx.svg", "/lab.sqlite",
        "/runs/1/plots/..%2f..%2flab/0.svg", "/runs/99/report.html", "/runs/x/report.html",
        "/runs/1e9/export.zip",
        "/runs/99999999999999999999999999/export.zip", "/runs/1/plots/waits/7.svg",
        "/runs/1/plots/waits/0.exe",
        "/runs/1/experiments/nothing", "/?run=nothing", "/state?run=-1",
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_found(client, measured, path):
    assert client.get(path).status_code == 404


def test_answers_say_that_nothing_may_come_from_elsewhere(client):
    headers = client.get("/").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_what_experiments_say_is_escaped(client, lab):
    run = lab.store.begin([("waits", {"n": 2})], quick=False, seed=1, machine={"cores": "<script>1</script>"})
    (result,) = lab.store.results(run)
    lab.store.start(result.id)
    lab.store.add_row(result.id, {"<script>2</script>": "<img src=x onerror=3>"})
    lab.store.finish(result.id, "done")
    shown = client.get(f"/runs/{run}/experiments/waits").text + client.get(f"/runs/{run}/report.html").text
    assert "<script>" not in shown
    assert "<img src=x" not in shown
    assert "&lt;script&gt;2" in shown


def test_run_that_cannot_be_performed_says_why(client, page, lab, tmp_path):
    with measuring_alone(tmp_path / "lab"):
        client.post("/start", {"experiments": ["waits"], "quick": True})
        page._worker.join()
    state = client.get("/state?run=1").json()
    assert (state["done"], state["busy"]) == (0, False)
    assert state["trouble"].startswith("another process runs experiments in")
