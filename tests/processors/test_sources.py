"""Sources, clocks and pumps, on real files."""

import gzip
import io
import queue

import pytest

from millstream.processors import (
    Apply,
    CsvRows,
    Cumulate,
    E,
    Filter,
    FollowLines,
    FromQueue,
    JsonLines,
    Lines,
    Pump,
    Source,
    StreamError,
    SystemClock,
    Ticks,
    VirtualClock,
    X,
    XmlElements,
)


@pytest.fixture
def write(tmp_path):
    def write(text, name="file"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_lines_come_without_their_ends(write):
    assert list(Lines(write("a\nb\r\n\nc"))) == ["a", "b", "", "c"]


def test_lines_of_the_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("x\ny\n"))
    assert list(Lines("-")) == ["x", "y"]


def test_lines_of_another_encoding_say_so(write):
    path = write("é".encode("latin-1"))
    with pytest.raises(ValueError, match=r"is not utf-8 text: .* give its encoding"):
        list(Lines(path))
    assert list(Lines(path, encoding="latin-1")) == ["é"]


def test_csv_rows_are_dicts_with_numbers(write):
    path = write('t,kind,value\n1,temp,2.5\n2,"a,b",x\n')
    assert list(CsvRows(path)) == [
        {"t": 1, "kind": "temp", "value": 2.5},
        {"t": 2, "kind": "a,b", "value": "x"},
    ]


def test_csv_without_header_gives_tuples_or_named_columns(write):
    path = write("1,a\n2,b\n")
    assert list(CsvRows(path, header=False)) == [(1, "a"), (2, "b")]
    assert next(iter(CsvRows(path, header=False, columns=["n", "c"], convert=False))) == {"n": "1", "c": "a"}


def test_csv_row_of_another_length_is_named_after_the_rows_before(write):
    rows = iter(CsvRows(write("a,b\n1,2\n3\n")))
    assert next(rows) == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match="line 3: 1 values for 2 columns"):
        next(rows)


def test_empty_csv_gives_nothing(write):
    assert list(CsvRows(write(""))) == []


def test_json_lines_name_the_bad_line(write):
    values = iter(JsonLines(write('{"a": 1}\n\n[2]\n{bad\n')))
    assert [next(values), next(values)] == [{"a": 1}, [2]]
    with pytest.raises(ValueError, match="line 4: not JSON"):
        next(values)


def test_json_too_deep_is_an_error_not_a_crash(write):
    with pytest.raises(ValueError, match="line 1: not JSON"):
        list(JsonLines(write("[" * 100_000)))


def test_source_piped_into_queries_can_be_read_again(write):
    total = CsvRows(write("n\n1\n2\n3\n")) | Apply(E.n) | Filter(X > 1) | Cumulate(lambda a, b: a + b)
    assert isinstance(total, Source)
    assert repr(total.query) == "Apply(E.n) | Filter(X > 1) | Cumulate(<lambda>)"
    assert list(total) == list(total) == [2, 5]


def test_queue_ends_at_the_closing_value():
    events: queue.SimpleQueue = queue.SimpleQueue()
    for x in (1, 2, "stop", 3):
        events.put(x)
    assert list(FromQueue(events, closing="stop") | (X * 2)) == [2, 4]


def test_ticks_do_not_drift_when_the_reader_is_slow():
    clock = VirtualClock(10.0)
    seen = []
    for t in Ticks(1.0, limit=4, clock=clock):
        seen.append((t, clock.now()))
        clock.sleep(1.5 if t == 11.0 else 0.1)
    assert seen == [(11.0, 11.0), (12.0, 12.5), (13.0, 13.0), (14.0, 14.0)]


def test_system_clock_moves_forward():
    clock = SystemClock()
    before = clock.now()
    clock.sleep(0)
    assert clock.now() >= before


def test_virtual_clock_does_not_go_back():
    with pytest.raises(ValueError, match="time does not go back, got -1"):
        VirtualClock().sleep(-1)


def test_pump_stops_when_a_sink_asks_and_goes_on_later():
    out: list = []

    def sink(y):
        out.append(y)
        if y == 4:
            pump.stop()

    pump = Pump(range(4), Apply(X * 2).into(sink))
    assert pump() == 3
    assert pump() == 1
    assert out == [0, 2, 4, 6]


def test_pump_ends_the_run_when_the_events_are_exhausted():
    from millstream.processors import KeepLast

    out: list = []
    Pump([1, 2], KeepLast().into(out))()
    assert out == [2]


def test_pump_passes_on_a_failure():
    pump = Pump([1, 0, 2], Apply(1 // X).into([]))
    with pytest.raises(StreamError, match="at input event 1"):
        pump()


def test_csv_truth_values_and_blank_lines(write):
    rows = CsvRows(write("a,b\n\ntrue,FALSE\n\nyes,\n"))
    assert list(rows) == [{"a": True, "b": False}, {"a": "yes", "b": ""}]


def test_csv_without_header_is_a_log_of_names_and_arguments(write):
    assert list(CsvRows(write("login,ann\n\nbid,chair,12\n"), header=False)) == [
        ("login", "ann"),
        ("bid", "chair", 12),
    ]


def test_lines_leave_out_the_mark_of_a_text_file(write):
    assert list(CsvRows(write(b"\xef\xbb\xbfa,b\n1,2\n"))) == [{"a": 1, "b": 2}]


def test_lines_unpack_gzip(tmp_path):
    with gzip.open(tmp_path / "log.csv.gz", "wt") as file:
        file.write("a\n1\n2\n")
    assert list(CsvRows(tmp_path / "log.csv.gz")) == [{"a": 1}, {"a": 2}]


def test_xml_elements_of_an_outermost_element(write):
    text = '<?xml version="1.0"?>\n<log>\n<e n="1">x</e><e n="2"><at><x>1.5</x></at><on>true</on></e>\n</log>'
    assert list(XmlElements(write(text))) == [{"n": 1, "text": "x"}, {"n": 2, "at": {"x": 1.5}, "on": True}]


def test_xml_several_outermost_elements_need_their_tag(write):
    path = write("<m><k>1</k></m>\n<m><k>2</k></m>\n")
    assert list(XmlElements(path, tag="m")) == [{"k": 1}, {"k": 2}]
    with pytest.raises(
        ValueError, match=r"has several outermost elements; say which are events, as in tag='m'"
    ):
        list(XmlElements(path))


def test_xml_what_comes_before_an_error_is_delivered(write):
    path = write("<log><e>1</e><e>2</e>\n<e>3</e></wrong>")
    seen = []
    with pytest.raises(ValueError, match=r"line 2: not XML: mismatched tag"):
        seen.extend(XmlElements(path))
    assert seen == [1, 2, 3]


def test_xml_cut_off_in_the_middle(write):
    with pytest.raises(ValueError, match="the text ends inside the element 'e'"):
        list(XmlElements(write("<log><e>1</e><e>")))


def test_xml_forgets_what_was_read():
    import tracemalloc

    lines = (f"<e><x>{n}</x></e>" for n in range(20_000))
    tracemalloc.start()
    total = sum(e["x"] for e in XmlElements(lines, tag="e"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == sum(range(20_000))
    assert peak < 500_000


class Script:
    """A clock that, instead of sleeping, does the next of some things."""

    def __init__(self, *steps):
        self.steps = list(steps)

    def now(self):
        return 0.0

    def sleep(self, seconds):
        self.steps.pop(0)()


def test_followed_lines_come_when_they_are_complete(tmp_path):
    path = tmp_path / "log"

    def add(text):
        with path.open("a") as file:
            file.write(text)

    script = Script(lambda: add("one\nt"), lambda: add("w"), lambda: add("o\r\nthree\n"))
    lines = iter(FollowLines(path, clock=script))
    assert [next(lines) for _ in range(3)] == ["one", "two", "three"]
    assert script.steps == []


def test_followed_file_may_be_cut_off_or_replaced(tmp_path):
    path = tmp_path / "log"
    path.write_text("first line\n")

    def rotate():
        path.rename(tmp_path / "old")
        path.write_text("c\n")

    script = Script(lambda: path.write_text("b\n"), rotate)
    lines = iter(FollowLines(path, clock=script))
    assert [next(lines) for _ in range(3)] == ["first line", "b", "c"]
