"""Specification files: a phased computation as XML, TOML or YAML text, with Python objects as vertices.

::

    <computation steps="100" seed="7">                  steps = 100
      <vertex name="walk" class="sensors:Walk">         seed = 7
        <parameter name="stride" value="2"/>
      </vertex>                                         [vertices.walk]
      <vertex name="high" function="sensors:is_high">   class = "sensors:Walk"
        <input name="walk"/>                            parameters = { stride = 2 }
      </vertex>
    </computation>                                      [vertices.high]
                                                        function = "sensors:is_high"
                                                        inputs = ["walk"]

A class is called with its parameters; if it has a parameter `seed` that is not given, it gets one that is
derived from the seed of the file and the name of the vertex. A function is used as it is. Naming a class or
function imports its module and calls it: read only files that you would run as programs.
"""

from __future__ import annotations

import inspect
import tomllib
from ast import literal_eval
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from random import Random
from typing import Any
from xml.etree import ElementTree

from attrs import field, frozen

from millstream.processors import MISSING
from millstream.processors.errors import QueryError, shorten

from .phased import PhasedGraph
from .phased_state import Phase
from .vertices import Vertex

KEYS = {"class", "function", "inputs", "parameters", "initial"}


@frozen
class Specification:
    """A phased graph with the number of its phases and the seed of its random values."""

    graph: PhasedGraph
    steps: int
    seed: int = 0
    source: str = field(default="", repr=False)

    def run(self, manager: Any = None, ahead: int = 64) -> Iterator[Phase]:
        """Return the phases of one run; random values go on where the last run left them."""
        return self.graph.run(self.steps, manager, ahead)


def load_specification(path: str | Path) -> Specification:
    """Read a specification from a file whose name ends in ``.xml``, ``.toml``, ``.yaml`` or ``.yml``."""
    path = Path(path)
    readers = {".xml": from_xml, ".toml": from_toml, ".yaml": from_yaml, ".yml": from_yaml}
    if path.suffix not in readers:
        raise QueryError(f"a specification is an .xml, .toml or .yaml file, got {str(path)!r}")
    return readers[path.suffix](path.read_text(encoding="utf-8"))


def from_toml(text: str) -> Specification:
    """Read a specification from TOML.

    >>> spec = from_toml('''
    ... steps = 3
    ... [vertices.clock]
    ... function = "builtins:int"
    ... [vertices.negative]
    ... function = "operator:neg"
    ... inputs = ["clock"]
    ... ''')
    >>> [phase.values for phase in spec.run()]
    [{'negative': -1}, {'negative': -2}, {'negative': -3}]
    """
    return _build(tomllib.loads(text), text)


def from_yaml(text: str) -> Specification:
    """Read a specification from YAML, which has the same keys as TOML; needs PyYAML.

    >>> spec = from_yaml('''
    ... steps: 2
    ... vertices:
    ...   clock: {function: "builtins:int"}
    ...   negative: {function: "operator:neg", inputs: [clock]}
    ... ''')
    >>> [phase.values for phase in spec.run()]
    [{'negative': -1}, {'negative': -2}]
    """
    try:
        yaml = import_module("yaml")
    except ImportError as error:
        raise QueryError(
            "a specification in YAML needs PyYAML: pip install 'millstream[yaml]', or write it in TOML"
        ) from error
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise QueryError(f"the specification is not YAML: {error}") from error
    if not isinstance(content, dict):
        raise QueryError(f"a specification has steps and vertices, got {shorten(content)}")
    return _build(content, text)


def from_xml(text: str) -> Specification:
    """Read a specification from XML; values of parameters are Python literals, or else plain text.

    >>> spec = from_xml('''
    ... <computation steps="2">
    ...   <vertex name="clock" function="builtins:int"/>
    ...   <vertex name="text" function="builtins:str"> <input name="clock"/> </vertex>
    ... </computation>''')
    >>> [phase.values for phase in spec.run()]
    [{'text': '1'}, {'text': '2'}]
    """
    root = ElementTree.fromstring(text)
    content: dict[str, Any] = {name: _literal(value) for name, value in root.attrib.items()}
    content["vertices"] = {}
    for element in root.iterfind("vertex"):
        vertex: dict[str, Any] = dict(element.attrib)
        name = vertex.pop("name", None)
        if name is None or name in content["vertices"]:
            raise QueryError(f"each <vertex> needs a name of its own, got {name!r}")
        vertex["inputs"] = [_input(e) for e in element.iterfind("input")]
        vertex["parameters"] = {
            e.attrib["name"]: _literal(e.attrib["value"]) for e in element.iterfind("parameter")
        }
        if "initial" in vertex:
            vertex["initial"] = _literal(vertex["initial"])
        content["vertices"][name] = vertex
    return _build(content, text)


def _input(element: ElementTree.Element) -> Any:
    name, part = element.attrib["name"], element.attrib.get("part")
    return name if part is None else [name, int(part)]


def _literal(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _build(content: Mapping[str, Any], source: str) -> Specification:
    unknown = set(content) - {"steps", "seed", "vertices"}
    if unknown or not isinstance(content.get("steps"), int):
        raise QueryError(
            "a specification has steps (an integer), perhaps a seed, and vertices; got "
            + ", ".join(sorted(content))
        )
    seed = content.get("seed", 0)
    vertices = [_vertex(name, made, seed) for name, made in content.get("vertices", {}).items()]
    return Specification(PhasedGraph(vertices), content["steps"], seed, source)


def _vertex(name: str, made: Mapping[str, Any], seed: int) -> Vertex:
    unknown = set(made) - KEYS
    if unknown or ("class" in made) == ("function" in made):
        raise QueryError(
            f"vertex {name!r} has a class or a function, and perhaps inputs, parameters, initial; got "
            + ", ".join(sorted(made))
        )
    inputs = [i if isinstance(i, str) else tuple(i) for i in made.get("inputs", ())]
    initial = made.get("initial", MISSING)
    if "function" in made:
        return Vertex(name, _named(name, made["function"]), inputs, initial)
    cls, parameters = _named(name, made["class"]), dict(made.get("parameters", {}))
    if "seed" in inspect.signature(cls).parameters:
        parameters.setdefault("seed", Random(f"{seed}/{name}").getrandbits(32))
    return Vertex(name, cls(**parameters), inputs, initial)


def _named(vertex: str, path: str) -> Any:
    try:
        return resolve_name(path)
    except (ImportError, AttributeError, ValueError) as error:
        raise QueryError(f"vertex {vertex!r}: cannot find {shorten(path)}: {error}") from error
