"""The program that archives, in a process of its own: the training keeps the interpreter for itself.

It is started with the folder of the package, the folder to archive and the target, gets the environment of its parent, and
prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys

#: Given to `python -I -c`, which looks for modules neither here nor in PYTHONPATH.
START = "import sys; sys.path.insert(0, sys.argv[1]); from cairn.archive.program import main; main(*sys.argv[2:])"


def main(folder: str, target: str) -> None:
    if hasattr(os, "nice"):
        os.nice(10)
    from cairn.archive.archive import archive_folder

    made = archive_folder(folder, target, env=os.environ)
    sys.stdout.write(json.dumps({"isMade": made.is_made, "note": made.note, "leftCount": made.left_count}) + "\n")
