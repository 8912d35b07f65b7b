"""Cairn records what training jobs did. See docs/guides/python.md.

import cairn

with cairn.init(namespace="demo/mnist", params={"lr": 1e-3}) as run:
    for step in range(1000):
        run.log({"loss": train(step)}, step=step)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.version import __version__

if TYPE_CHECKING:
    from cairn.client import Client
    from cairn.failure import Failure
    from cairn.login import find_server
    from cairn.objective import set_objective
    from cairn.result_tracker import CairnResultTracker
    from cairn.run import Run
    from cairn.start import init

__all__ = ["CairnResultTracker", "Client", "Failure", "Run", "__version__", "find_server", "init", "set_objective"]

_HOMES = {
    "CairnResultTracker": "cairn.result_tracker",
    "Client": "cairn.client",
    "Failure": "cairn.failure",
    "Run": "cairn.run",
    "find_server": "cairn.login",
    "init": "cairn.start",
    "set_objective": "cairn.objective",
}


def __getattr__(name: str) -> Any:
    # Loaded when they are used: importing this package must not slow down a program that only might track.
    if name not in _HOMES:
        raise AttributeError(f"module 'cairn' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
