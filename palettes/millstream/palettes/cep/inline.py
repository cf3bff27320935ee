"""A before B in CHRONICLE, perhaps within a duration, as lines inside the function around a detector.

The most common composite, often asked for each of many keys: there the calls from the slice to the detector
and on to its operators would cost more than what they do. It is the same as `operators.ordered`, with the
same memory; the laws of processors compare the two.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from millstream.processors import MISSING, Inline
from millstream.processors.apply import inline_call

from .constructors import Before
from .expressions import On
from .forest import Analysis
from .fused import UNREADABLE, refuse, refuse_reading, refuse_value
from .modes import Mode
from .occurrence import EARLIEST, NO_ATTRIBUTES, Occurrence
from .operators.base import SHORT, new

if TYPE_CHECKING:
    from .detector import Detector

BEGIN = """\
{memory} = {me}.remembered
{y0} = {nothing}
try:
    {time} = TIME
except {unreadable} as error:
    {refuse_reading}("time", error)
if {memory} is {nothing}:
    {memory} = {me}.remembered = [{earliest}, []]
"""
ORDER = """\
try:
    if not {time} >= {memory}[0]:
        {refuse}({time}, {memory}[0])
except TypeError as error:
    {refuse_value}({time}, error)
{memory}[0] = {time}
"""
FORGET = """\
while {waiting} and {time} - {waiting}[0][0] > {window}:
    del {waiting}[0]
"""
LEFT = """\
{waiting} = {memory}[1]
try:
    {what} = KIND
except {unreadable} as error:
    {refuse_reading}("kind", error)
if {what} == {left}:
    {waiting}.append(({time}, {time}, {0}))
    if len({waiting}) == {short}:
        {memory}[1] = {deque}({waiting})
"""
RIGHT = """\
elif {what} == {right} and {waiting} and {waiting}[0][0] < {time}:
    {first} = {waiting}[0]
    del {waiting}[0]
    {y0} = {new}({occurrence}, ({kind}, {time}, {none}, ({first}[2], {0}), {first}[0]))
"""
SHRINK = """\
    if not {waiting} and {waiting}.__class__ is {deque}:
        {memory}[1] = []
"""
DROP = """\
if not {waiting}:
    {me}.remembered = {nothing}
"""


def inline(detector: Detector) -> Inline | None:
    """Return the lines of a detector, None if it looks for something else."""
    if detector.max_pending is not None or detector.kinds is not None or not _is_plain(detector.analysed()):
        return None
    event = detector.expression.roots[0][1]
    assert isinstance(event, Before)
    read_time, names = _read(detector.time, "t")
    read_kind, more = _read(detector.kind, "k")
    names |= more
    refuses = detector.order == "refuse"
    parts = [BEGIN, ORDER if refuses else "", LEFT, RIGHT, SHRINK if refuses else DROP]
    if event.window is not None:
        parts.insert(2, "{waiting} = {memory}[1]\n" + FORGET)
    text = "".join(parts).replace("TIME", read_time).replace("KIND", read_kind)
    local = dict.fromkeys(("memory", "time", "waiting", "what", "first"))
    names |= {
        **local,
        "nothing": MISSING, "earliest": EARLIEST, "refuse": refuse, "refuse_value": refuse_value,
        "unreadable": UNREADABLE, "refuse_reading": refuse_reading,
        "left": event.left.what, "right": event.right.what, "window": event.window,  # type: ignore[attr-defined]
        "short": SHORT, "deque": deque, "new": new, "occurrence": Occurrence, "none": NO_ATTRIBUTES,
        "kind": event.name or event.word,
    }  # fmt: skip
    return Inline(do=tuple(text.splitlines()), out=("{y0}",), when="{y0} is not {nothing}", names=names)


def _is_plain(analysis: Analysis) -> bool:
    """Return whether a forest is one BEFORE of two different type names, without a condition."""
    if len(analysis.roots) != 1 or len(analysis.nodes) != 3:
        return False
    root = analysis.nodes[analysis.roots[0]]
    leaves = [analysis.nodes[k].event for k in root.operands]
    named = all(isinstance(e, On) and isinstance(e.what, str) for e in leaves)
    plain = isinstance(root.event, Before) and root.event.condition is None and not root.event.flat
    return named and plain and root.mode is Mode.CHRONICLE


def _read(function: Any, prefix: str) -> tuple[str, dict[str, Any]]:
    """Return the text that reads something of the event, and the names in it."""
    text, names = inline_call(function, 1)
    renamed = {name: "{" + prefix + name + "}" for name in names}
    return text.format("{0}", **renamed), {prefix + name: value for name, value in names.items()}
