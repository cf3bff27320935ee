"""`XmlElements`: the elements of an XML trace, as dicts, read piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from attrs import frozen

from .sources import Source, Text, lines_of, name_of, value

#: how deep elements may stand inside each other
DEPTH = 200


@frozen(eq=False)
class XmlElements(Source):
    """The elements of an XML file that are events, as dicts; what was read is forgotten.

    Attributes and elements inside are keys. An element that holds only text is that text (or number), one
    that comes several times is a list. A file may hold one element that contains the events, or one event
    after the other without anything around them, as recorded streams do.

    Parameters
    ----------
    path
        The file; ``-`` is the standard input; or any lines.
    tag
        The elements that are events. Without it, those directly inside the outermost one.
    lists
        Elements that are lists even where there is only one of them.
    convert
        Whether text that looks like a number or a truth value becomes one.

    Examples
    --------
    >>> list(XmlElements(["<trace><e kind='a'><x>1</x></e>", "<e kind='b'/>", "</trace>"]))
    [{'kind': 'a', 'x': 1}, {'kind': 'b'}]
    >>> messages = ["<m><id>1</id><id>2</id></m>", "<m><id>3</id></m>"]
    >>> list(XmlElements(messages, tag="m"))
    [{'id': [1, 2]}, {'id': 3}]
    >>> list(XmlElements(messages, tag="m", lists=["id"]))
    [{'id': [1, 2]}, {'id': [3]}]
    """

    path: Text
    tag: str | None = None
    lists: Sequence[str] = ()
    convert: bool = True

    def __iter__(self) -> Iterator[Any]:
        parser: Any = XMLPullParser(("start", "end"))
        parser.feed("<events>")  # around events that have nothing around them
        opened: list[Element] = []
        for n, line in enumerate(lines_of(self.path), 1):
            parser.feed((_without_declaration(line) if n == 1 else line) + "\n")
            try:
                for kind, element in parser.read_events():
                    if self.is_event(kind, element, opened):
                        yield self.read(element)
                        opened[-1].remove(element)
            except ParseError as error:
                raise ValueError(f"{name_of(self.path)}, line {n}: not XML: {error.msg}") from error
        if len(opened) > 1:
            raise ValueError(f"{name_of(self.path)}: the text ends inside the element {opened[-1].tag!r}")

    def is_event(self, kind: str, element: Element, opened: list[Element]) -> bool:
        """Follow the nesting; return whether an event has ended."""
        if kind == "start":
            opened.append(element)
            if len(opened) > DEPTH:
                raise ValueError(f"{name_of(self.path)}: elements inside each other, more than {DEPTH} deep")
            if len(opened) == 2 and self.tag is None and len(opened[0]) > 1:
                raise ValueError(
                    f"{name_of(self.path)} has several outermost elements; say which are events, as in "
                    f"tag={element.tag!r}"
                )
            return False
        opened.pop()
        return len(opened) == 2 if self.tag is None else element.tag == self.tag

    def read(self, element: Element) -> Any:
        """Return a dict, or the text of an element without anything else."""
        text = (element.text or "").strip()
        if not len(element) and not element.attrib:
            return self.text(text) if text else {}
        found: dict[str, Any] = {name: self.text(given) for name, given in element.attrib.items()}
        for child in element:
            inner = self.read(child)
            if child.tag not in found:
                found[child.tag] = [inner] if child.tag in self.lists else inner
            elif isinstance(found[child.tag], list):
                found[child.tag].append(inner)
            else:
                found[child.tag] = [found[child.tag], inner]
        return {**found, "text": self.text(text)} if text else found

    def text(self, text: str) -> Any:
        """Return a text, converted if that is asked for."""
        return value(text) if self.convert else text


def _without_declaration(line: str) -> str:
    line = line.lstrip()
    return line.partition("?>")[2] if line.startswith("<?xml") else line
