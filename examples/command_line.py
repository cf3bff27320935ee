"""The command line: a query and a property in a shell, from this program.

`millstream run` prints what comes out of a query; `millstream check` exits with 0 if a property holds, with 1
if it is violated, and says where and why.

::

    readings.csv ──> Filter(E.celsius > 30) ──> Apply(E.room) ──> standard output

Prints:
$ millstream run hot.py readings.csv
lab
lab
roof
status 0
$ millstream check 'alarm -> celsius > 30' readings.csv
holds: alarm -> celsius > 30 (4 events)
status 0
$ millstream check 'G (celsius > 30 -> F alarm)' readings.csv
violated: G (celsius > 30 -> F alarm) (4 events)
at event 3 (counted from 0): {'room': 'roof', 'celsius': 41, 'alarm': False}
because !alarm at 3
        celsius > 30 at 3 (the trace ends)
status 1
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

QUERY = """
from millstream.processors import Apply, E, Filter

query = Filter(E.celsius > 30) | Apply(E.room)
"""
READINGS = "room,celsius,alarm\nhall,20,false\nlab,35,false\nlab,36,true\nroof,41,false\n"


def millstream(folder: str, *arguments: str) -> None:
    """Run the command as a shell would, and show what it prints and returns."""
    print("$ millstream", *(f"'{a}'" if " " in a else a for a in arguments), flush=True)
    command = [sys.executable, "-m", "millstream.cli", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    print(f"{done.stdout}{done.stderr}status {done.returncode}")


def main() -> None:
    """Write the files, run the query, check two properties."""
    with TemporaryDirectory() as folder:
        Path(folder, "hot.py").write_text(QUERY)
        Path(folder, "readings.csv").write_text(READINGS)
        millstream(folder, "run", "hot.py", "readings.csv")
        millstream(folder, "check", "alarm -> celsius > 30", "readings.csv")
        millstream(folder, "check", "G (celsius > 30 -> F alarm)", "readings.csv")


if __name__ == "__main__":
    main()
