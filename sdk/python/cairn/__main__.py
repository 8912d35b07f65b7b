"""`python -m cairn` is the command `cairn`."""

from __future__ import annotations

import sys

from cairn.command import main

if __name__ == "__main__":
    sys.exit(main())
