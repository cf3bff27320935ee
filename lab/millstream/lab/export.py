"""A run as one zip file: data, database rows, plots, reports and the description of the machine."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from .laboratory import Laboratory
from .report import write
from .store import Run


def export(lab: Laboratory, run: Run) -> bytes:
    """Return the zip file of a run; all its files are in one folder."""
    out = BytesIO()
    with TemporaryDirectory() as made, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        folder = Path(made)
        write(lab, run, folder)
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            archive.write(path, f"millstream-lab-run-{run.id}/{path.relative_to(folder).as_posix()}")
    return out.getvalue()


def write_zip(lab: Laboratory, run: Run) -> Path:
    """Write the zip file of a run into the laboratory's folder; return its path."""
    path = lab.folder / f"millstream-lab-run-{run.id}.zip"
    path.write_bytes(export(lab, run))
    return path
