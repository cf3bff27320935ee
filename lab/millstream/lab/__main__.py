"""`python -m millstream.lab` is `millstream lab`."""

from .cli import lab

if __name__ == "__main__":
    lab(prog_name="millstream lab")
