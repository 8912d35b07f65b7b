"""How a run is made, as cairn.v1.Provenance: what a client captures, and what a program states about its data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Optional, Union

from cairn.notices import warn
from cairn.record.values import cut_text
from cairn.wire import encode_text, message, number, pairs, present, text

NOT_ASKED, UNCHANGED, CHANGED = 0, 1, 2

#: A server takes no more, and would refuse the whole run.
_TEXT_BYTES_MAX = 8 << 10
_LIST_MAX = 1000
_LIST_BYTES_MAX = 2 << 20
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})", re.IGNORECASE)

References = Union[str, Iterable[str], None]


class Code(NamedTuple):
    """The state of a work tree. Unknown is not clean: the work tree is clean only if git said so of all three."""

    repository: str = ""
    commit: str = ""
    branch: str = ""
    dirty_patch: str = ""
    #: The name of the artifact that holds the working directory.
    archive: str = ""
    #: Of files that git tracks: NOT_ASKED also where git did not answer.
    tracked_changes: int = NOT_ASKED
    #: Neither tracked nor ignored; None where that is unknown.
    untracked_files: Optional[int] = None
    #: With changes of their own, or at another commit; None where that is unknown.
    changed_submodules: Optional[int] = None
    #: Why the patch or a part of it is missing; empty when it has all changes.
    patch_left_out: str = ""
    #: 0 where that is unknown.
    left_out_bytes: int = 0

    def without_patch(self, reason: str) -> Code:
        """The same, and it says what is missing."""
        if not self.dirty_patch:
            return self
        size = len(encode_text(self.dirty_patch))
        return self._replace(dirty_patch="", patch_left_out=reason, left_out_bytes=size)

    def encode(self) -> bytes:
        return b"".join(
            (
                text(1, cut_text(self.repository, _TEXT_BYTES_MAX)),
                text(2, self.commit),
                text(3, cut_text(self.branch, _TEXT_BYTES_MAX)),
                text(4, self.dirty_patch),
                text(5, self.archive),
                number(6, self.tracked_changes),
                b"" if self.untracked_files is None else present(7, self.untracked_files),
                b"" if self.changed_submodules is None else present(8, self.changed_submodules),
                text(9, cut_text(self.patch_left_out, _TEXT_BYTES_MAX)),
                number(10, self.left_out_bytes),
            )
        )


def encode_captured(
    *,
    code: Code | None = None,
    command: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    user: str = "",
) -> bytes:
    """What a client collects by itself."""
    return b"".join(
        (
            b"" if code is None else message(6, code.encode()),
            *(message(7, encode_text(word)) for word in command),
            pairs(8, environment or {}),
            text(10, cut_text(user, _TEXT_BYTES_MAX)),
        )
    )


def encode_stated(
    *,
    initial_state: str | None = None,
    training_data: References = None,
    test_data: References = None,
    feature_pipeline: str | None = None,
    study: str | None = None,
    logs_location: str | None = None,
) -> bytes:
    """What a program states. Two of them in a row are one message: texts replace, lists add."""
    return b"".join(
        (
            _reference(1, initial_state),
            *(_reference(2, one) for one in _all_of(training_data)),
            *(_reference(3, one) for one in _all_of(test_data)),
            _reference(4, feature_pipeline),
            _reference(5, study),
            _reference(9, logs_location),
        )
    )


def _all_of(given: References) -> list[str]:
    if given is None:
        return []
    found = [given] if isinstance(given, str) else [str(one) for one in given]
    kept: list[str] = []
    left = _LIST_BYTES_MAX
    for one in found[:_LIST_MAX]:
        left -= len(encode_text(one)[:_TEXT_BYTES_MAX])
        if left >= 0:
            kept.append(one)
    if len(kept) < len(found):
        warn("references", f"of {len(found)} references to data only {len(kept)} are kept")
    return kept


def _reference(field: int, value: object) -> bytes:
    return b"" if value is None else text(field, cut_text(str(value), _TEXT_BYTES_MAX))


def join_reference(location: str, version: str | None = None, digest: str | None = None) -> str:
    """`LOCATION`, `LOCATION@VERSION` or `LOCATION@sha256:HEX`, as lang/data-reference.ts has it. Raises ValueError for a
    version that could not be read back, for an invalid digest, and for both at once."""
    if not location:
        raise ValueError('cannot refer to data "": its location is empty')
    if version is not None and digest is not None:
        raise ValueError(f'cannot refer to data "{location}": it has a version and a digest')
    if digest is not None:
        found = _DIGEST.fullmatch(digest)
        if found is None:
            raise ValueError(f'cannot refer to data "{location}": digest "{digest}" is not a SHA-256 in hexadecimal')
        return f"{location}@sha256:{found[1].lower()}"
    if version is None:
        return location
    if not version or "/" in version or "@" in version:
        raise ValueError(f'cannot refer to data "{location}": version "{version}" is empty or has a "/" or "@"')
    return f"{location}@{version}"


def split_reference(reference: str) -> tuple[str, str]:
    """Location and version: what follows the last "@", unless that is empty or has a "/", or nothing precedes it."""
    location, at, version = reference.rpartition("@")
    if not at or not location or not version or "/" in version:
        return reference, ""
    return location, version
