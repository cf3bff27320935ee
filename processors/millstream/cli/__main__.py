"""`python -m millstream.cli`: the same as `millstream`."""

from . import main

main(prog_name="millstream")
