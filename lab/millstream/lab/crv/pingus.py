"""Snapshots of a game as XML: one ``<message>`` for each event, with all characters in it.

The layout is that of the competition's traces. Reading XML is most of the work, so messages in exactly this
layout are read by a regular expression, about ten times as fast as by a parser. Everything else (other
layouts, comments, entities) goes to a real parser, which refuses document type declarations: no entity of
ours is ever expanded, and nothing outside the file is read.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple
from xml.parsers import expat

from attrs import field, frozen

from .problem import Path

#: bytes read at once, and the longest message that is believed
BLOCK: Final = 1 << 18
LONGEST: Final = 1 << 24

END: Final = b"</message>"


class Pingu(NamedTuple):
    """A character: who it is, what it does, where it is, and how it moves."""

    id: int
    status: str
    x: float
    y: float
    vx: float
    vy: float


Snapshot = tuple[Pingu, ...]

CHARACTER: Final = re.compile(
    r"<character>\s*<id>(\d+)</id>\s*<status>(\w+)</status>"
    r"\s*<position>\s*<x>([^<]+)</x>\s*<y>([^<]+)</y>\s*</position>"
    r"\s*<velocity>\s*<x>([^<]+)</x>\s*<y>([^<]+)</y>\s*</velocity>\s*</character>"
)
STATUS: Final = re.compile(r"<character>\s*<id>(\d+)</id>\s*<status>(\w+)</status>\s*<position>")


def parse(message: str) -> Snapshot:
    """Return the characters of a message.

    >>> parse(write([Pingu(7, "WALKER", 1.0, 2.0, 0.5, 0.0)]))
    (Pingu(id=7, status='WALKER', x=1.0, y=2.0, vx=0.5, vy=0.0),)
    """
    found = CHARACTER.findall(message)
    if len(found) != message.count("</character>") or unusual(message):
        found = parse_carefully(message)
    return tuple(
        [Pingu(int(i), status, float(x), float(y), float(vx), float(vy)) for i, status, x, y, vx, vy in found]
    )


def statuses(message: str) -> list[tuple[str, str]]:
    """Return the id and the status of each character of a message; numbers are not read.

    >>> statuses(write([Pingu(7, "WALKER", 1.0, 2.0, 0.5, 0.0)]))
    [('7', 'WALKER')]
    """
    found = STATUS.findall(message)
    if len(found) != message.count("</character>") or unusual(message):
        return [(row[0], row[1]) for row in parse_carefully(message)]
    return found


def unusual(message: str) -> bool:
    """Tell whether a message has anything in it that a regular expression could misread."""
    return "<!" in message or "&" in message or "<?" in message


FIELDS: Final = ("id", "status", "position/x", "position/y", "velocity/x", "velocity/y")


def parse_carefully(message: str) -> list[tuple[str, ...]]:
    """Read a message with an XML parser: any layout, but no document type declarations.

    >>> parse_carefully("<message><!-- odd --><characters/></message>")
    []
    >>> parse_carefully('<!DOCTYPE m [<!ENTITY a "b">]><message>&a;</message>')
    Traceback (most recent call last):
    ValueError: a message must not have a document type declaration
    """
    reader = Characters()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(message, True)
    except expat.ExpatError as error:
        raise ValueError(f"not a well-formed message: {error}") from None
    return reader.found


def _refuse(*_: Any) -> None:
    raise ValueError("a message must not have a document type declaration")


@frozen
class Characters:
    """Gathers the fields of characters from the parser's calls."""

    found: list[tuple[str, ...]] = field(factory=list)
    path: list[str] = field(factory=list)
    fields: dict[str, str] = field(factory=dict)

    def start(self, name: str, _: Any) -> None:
        """Enter an element."""
        if name == "character":
            self.path.clear()
            self.fields.clear()
        else:
            self.path.append(name)

    def text(self, data: str) -> None:
        """Take text; white space between elements does not count."""
        place = "/".join(self.path)
        self.fields[place] = (self.fields.get(place, "") + data).strip()

    def end(self, name: str) -> None:
        """Leave an element; a character is complete."""
        if name != "character":
            if self.path:
                self.path.pop()
            return
        missing = [f for f in FIELDS if not self.fields.get(f)]
        if missing:
            raise ValueError(f"a character lacks {', '.join(missing)}")
        self.found.append(tuple(self.fields[f] for f in FIELDS))


def write(snapshot: Iterable[Pingu], timestamp: int = 0) -> str:
    """Return a message."""
    inside = "".join(
        f"<character>\n  <id>{p.id}</id>\n  <status>{p.status}</status>\n"
        f"  <position>\n    <x>{p.x!r}</x>\n    <y>{p.y!r}</y>\n  </position>\n"
        f"  <velocity>\n    <x>{p.vx!r}</x>\n    <y>{p.vy!r}</y>\n  </velocity>\n</character>\n"
        for p in snapshot
    )
    return f"<message>\n<timestamp>{timestamp}</timestamp>\n<characters>\n{inside}</characters>\n</message>\n"


def messages(path: Path) -> Iterator[str]:
    """Yield the text of each message of a file (``.gz`` is unpacked), a block at a time."""
    return (message for _, message in located(path))


def is_packed(path: Path) -> bool:
    """Tell whether a file has to be unpacked.

    >>> is_packed("game.xml.gz"), is_packed("game.xml")
    (True, False)
    """
    return str(path).endswith(".gz")


def located(path: Path, begin: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the messages of a file that begin at a byte or after it, and where each begins."""
    rest, at = b"", begin
    with gzip.open(path) if is_packed(path) else open(path, "rb") as file:
        file.seek(begin)
        while block := file.read(BLOCK):
            *whole, rest = (rest + block).split(END)
            for text in whole:
                start = text.find(b"<message")
                if start >= 0:
                    yield at + start, (text[start:] + END).decode()
                elif at > begin:
                    raise ValueError(f"{path}: {END.decode()} without <message> before it")
                at += len(text) + len(END)
            if len(rest) > LONGEST:
                raise ValueError(f"{path}: a message has more than {LONGEST} bytes")
    if b"<message" in rest:
        raise ValueError(f"{path}: the file ends within a message")


@frozen
class PingusXml:
    """Traces of snapshots in XML; `parse` says what is read of a message."""

    parse: Callable[[str], Any] = parse

    def read(self, path: Path) -> Iterator[Any]:
        """Yield what `parse` gives for each message of a file."""
        return map(self.parse, messages(path))

    def write(self, path: Path, events: Iterable[Any]) -> int:
        """Write snapshots to a file; return how many."""
        number = 0
        with open(path, "w", encoding="utf-8") as file:
            for number, snapshot in enumerate(events, 1):
                file.write(write(snapshot, 40 * number))
        return number
