"""The corpus of secrets that the tests of both clients run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

_PATH = Path(__file__).resolve().parents[2] / "testing" / "secret-corpus.json"


class Form(NamedTuple):
    where: str
    text: str
    #: Empty for a harmless one.
    secret: str


def read_corpus() -> list[Form]:
    corpus = json.loads(_PATH.read_text(encoding="utf-8"))
    values = {name: "".join(_part(part) for part in parts) for name, parts in corpus["values"].items()}
    forms = []
    for entry in corpus["secrets"]:
        secret = values[entry["secret"]]
        forms += [Form(entry["where"], text.replace("{S}", secret), secret) for text in entry["texts"]]
    return forms + [Form(entry["where"], text, "") for entry in corpus["harmless"] for text in entry["texts"]]


def hostile_pieces() -> list[str]:
    """What makes a careless pattern slow when it is repeated."""
    pieces: list[str] = json.loads(_PATH.read_text(encoding="utf-8"))["hostile"]
    return pieces


def words_of(command: str) -> list[str]:
    return [word.replace("␣", " ") for word in command.split(" ")]


def _part(part: str) -> str:
    """`ab*3` is ababab."""
    text, star, times = part.rpartition("*")
    return text * int(times) if star else part
