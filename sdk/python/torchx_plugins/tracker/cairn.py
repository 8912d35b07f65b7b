"""Where TorchX looks for trackers that are not entry points: namespace packages under `torchx_plugins.tracker`.

TorchX 0.7 knows entry points only; later ones know both and complain when a name comes both ways. So this one steps back
while the entry point is there and counts.
"""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING

from torchx.plugins import register

if TYPE_CHECKING:
    from cairn.torchx_tracker import CairnTracker

#: The bit of TORCHX_PLUGINS_SOURCE for entry points.
_ENTRY_POINTS = 2


def _is_entry_point() -> bool:
    try:
        if not int(os.environ.get("TORCHX_PLUGINS_SOURCE", "3")) & _ENTRY_POINTS:
            return False
    except ValueError:
        pass
    if importlib.util.find_spec("torchx.util.entrypoints") is None:
        return False
    from importlib.metadata import distribution

    try:
        return any(point.group == "torchx.tracker" for point in distribution("cairn-tracker").entry_points)
    except ModuleNotFoundError:
        return False


def cairn(config: str | None) -> CairnTracker:
    """The factory of the tracker `cairn`."""
    from cairn.torchx_tracker import create_tracker

    return create_tracker(config)


if not _is_entry_point():
    cairn = register.tracker(name="cairn")(cairn)
