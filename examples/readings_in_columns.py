"""Columns: the same query on record batches of Arrow, computed by NumPy, with the same results.

The query is not written again: columnar() turns it into kernels, and with mixed=True runs event by event
what has none. A batch may end anywhere, also in the middle of a window. Needs the extra `columns`.

::

    readings.csv ──> read_csv ──> columnar(Filter | Apply | Window | Filter) ──> batches

Prints:
32 sums above 123, the first: 128 124 133 130 125
the same in columns: True
"""

from operator import add
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from millstream.palettes.columns import columnar, read_csv
from millstream.palettes.windows import Window
from millstream.processors import Apply, CsvRows, Cumulate, E, Filter, X

hot = Filter(E.kind == "temp") | Apply(E.celsius) | Window(Cumulate(add), 5) | Filter(X > 123)
fast = columnar(hot, mixed=True)


def main() -> None:
    """Write readings to a file, run the query on rows and on columns, and compare."""
    chance = Random(3)
    with TemporaryDirectory() as folder:
        path = Path(folder, "readings.csv")
        rows = [f"{chance.choice(['temp', 'wind'])},{chance.randint(10, 30)}" for _ in range(2000)]
        path.write_text("kind,celsius\n" + "\n".join(rows) + "\n")
        by_rows = list(hot(CsvRows(path)))
        by_columns = [v for batch in fast(read_csv(path)) for v in batch.column(0).to_pylist()]
    print(len(by_rows), "sums above 123, the first:", *by_rows[:5])
    print("the same in columns:", by_columns == by_rows)


if __name__ == "__main__":
    main()
