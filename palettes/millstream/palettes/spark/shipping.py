"""`ship`: make millstream importable on workers that do not have it installed.

The query itself travels by cloudpickle, which sends functions and classes of scripts and notebooks along,
but for an installed package only its name. So the package follows as a zip. A wheel would not do: it has no
entries for directories, without which a namespace such as `millstream` is not found in a zip.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from millstream.processors import QueryError

#: what millstream.processors needs, pure Python all of it
NEEDED = ("attr", "attrs", "more_itertools")


def ship(spark: Any, *packages: str) -> Path:
    """Send millstream, all palettes that are installed, and what they need to the workers of a session.

    Call it once for a session, before the first job. The workers need Python, pyspark, pyarrow and numpy.

    Parameters
    ----------
    spark : SparkSession
        The session, an ordinary one or one of Spark Connect.
    packages : str
        Further packages to send, in pure Python, such as that of your own processors.

    Returns
    -------
    The zip that was sent.
    """
    archive = Path(tempfile.mkdtemp(prefix="millstream-"), "millstream-shipped.zip")
    make_archive(archive, ("millstream", *NEEDED, *packages))
    if hasattr(spark, "sparkContext") and not _is_connect(spark):
        spark.sparkContext.addPyFile(str(archive))
    else:
        spark.addArtifacts(str(archive), pyfile=True)
    return archive


def _is_connect(spark: Any) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


def make_archive(archive: Path, packages: tuple[str, ...]) -> None:
    """Write packages into a zip, with an entry for each directory."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        written: set[str] = set()
        for package in packages:
            for folder in _folders(package):
                for path, name in _entries(folder, package):
                    if name not in written:
                        written.add(name)
                        target.writestr(name, b"") if path.is_dir() else target.write(path, name)


def _folders(package: str) -> list[Path]:
    """Return the folders of a package; a namespace has several."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise QueryError(
            f"ship: there is no package {package!r} to send; name packages, as in ship(spark, 'mine')"
        )
    return [Path(folder) for folder in found.submodule_search_locations]


def _entries(folder: Path, package: str) -> Iterator[tuple[Path, str]]:
    """Yield what stands in a folder, with its name in the zip."""
    yield folder, f"{package}/"
    for path in sorted(folder.rglob("*")):
        if "__pycache__" not in path.parts:
            name = f"{package}/{path.relative_to(folder).as_posix()}"
            yield path, name + "/" * path.is_dir()
