"""Writes and reads a directory with TorchX's own FsspecTracker, for fsspec.test.ts.

    fsspec_directory.py write DIR     makes runs from the list of calls on standard input
    fsspec_directory.py read DIR      prints everything that is in it

Values travel as JSON; floats that JSON cannot distinguish from integers, and NaN, are distinguished by the type
that is printed beside each value.
"""

import json
import sys

import fsspec
from torchx.tracker.backend.fsspec import FsspecTracker


def typed(value):
    """The value with the name of its type, all the way down."""
    if isinstance(value, dict):
        return ["dict", {key: typed(item) for key, item in value.items()}]
    if isinstance(value, list):
        return ["list", [typed(item) for item in value]]
    return [type(value).__name__, repr(value)]


def write(tracker):
    for method, args, kwargs in json.load(sys.stdin):
        getattr(tracker, method)(*args, **kwargs)


def read(tracker):
    runs = {}
    for run_id in tracker.run_ids():
        runs[run_id] = {
            "metadata": {key: typed(value) for key, value in tracker.metadata(run_id).items()},
            "artifacts": {
                name: [artifact.path, typed(artifact.metadata)]
                for name, artifact in tracker.artifacts(run_id).items()
            },
            "sources": [[link.source_run_id, link.artifact_name] for link in tracker.sources(run_id)],
            "children": list(tracker.run_ids(parent_run_id=run_id)),
        }
    json.dump(runs, sys.stdout)


action, directory = sys.argv[1:]
{"write": write, "read": read}[action](FsspecTracker(fsspec.filesystem("file"), directory))
