"""Pictures: a query draws itself, as text for Markdown and Graphviz and as SVG, also what is inside.

A group is a box with a name, and what hosts a query shows it. In a notebook a query is shown as its picture;
`millstream draw query.py -o query.svg` does the same in a shell.

::

    in ──> Group("evens": Filter(X % 2 == 0)) ──> Slice(X % 3, Count()) ──> out

Prints:
flowchart LR
  in0((in))
  subgraph n0["evens"]
    n0_0["▽ Filter(X % 2 == 0)"]
  end
  subgraph n1["Slice"]
    n1_0["∥ PlainSlices(X % 3, Count())"]
  end
  out0((out))
  in0 --> n0_0
  n0_0 --> n1_0
  n1_0 --> out0
query.svg <svg
query.dot digraph
query.mmd flowchart
boxes in the SVG: 12
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from millstream.palettes.slicer import Slice
from millstream.processors import Count, Filter, Group, X

query = Group(Filter(X % 2 == 0), "evens") | Slice(X % 3, Count())


def main() -> None:
    """Print the Mermaid text, and look into the SVG."""
    picture = query.draw()
    print(picture.mermaid)
    with TemporaryDirectory() as folder:
        for suffix in ("svg", "dot", "mmd"):
            path = picture.save(Path(folder, f"query.{suffix}"))
            print(path.name, path.read_text().split()[0])
    boxes = [e for e in ElementTree.fromstring(picture.svg).iter() if e.tag.endswith("rect")]
    print("boxes in the SVG:", len(boxes))


if __name__ == "__main__":
    main()
