"""What a server refuses for good, kept for a person to look at: the frame, and why."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from cairn.delivery.segment import DESCRIBE, ENVELOPE, SOURCE, UPLOAD, Frame, encode_frame


class Refusal(NamedTuple):
    #: Such as `artifact "model.pt"`.
    what: str
    why: str
    server: str
    #: The id of the run; empty while it is unknown.
    run: str


def describe_frame(frame: Frame) -> str:
    if frame.kind == ENVELOPE:
        return f"envelope {frame.seq}"
    if frame.kind == UPLOAD:
        try:
            return f'artifact "{json.loads(frame.body)["name"]}"'
        except (ValueError, KeyError, TypeError):
            return "an artifact"
    return {SOURCE: "a source", DESCRIBE: "the description of a key"}.get(frame.kind, "a frame")


def set_aside(folder: Path, frame: Frame, refusal: Refusal) -> Path:
    """Where it is kept, in the folder of its writer. Raises OSError when it cannot be."""
    place = folder / "refused"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Only envelopes have a number.
    name = str(frame.seq) if frame.seq else hashlib.sha256(frame.body).hexdigest()[:16]
    (place / f"{name}.json").write_text(json.dumps(refusal._asdict(), indent=2) + "\n", encoding="utf-8")
    path = place / f"{name}.frame"
    path.write_bytes(encode_frame(frame.kind, frame.seq, frame.body))
    return path
