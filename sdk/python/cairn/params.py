"""The params of a run, as a mapping."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any


class Params(MutableMapping[str, Any]):
    """The params this process knows of. Setting one sends it; the others of the run stay as they are."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None], given: Mapping[str, Any]) -> None:
        self._send = send
        self._known: dict[str, Any] = dict(given)

    def __getitem__(self, key: str) -> Any:
        return self._known[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._known[key] = value
        self._send({key: value})

    def __delitem__(self, key: str) -> None:
        raise TypeError(f'cannot remove param "{key}": what a run was started with stays; set it to None instead')

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return repr(self._known)
