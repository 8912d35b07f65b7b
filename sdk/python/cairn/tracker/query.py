"""Keywords of `run_ids` as a query."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


def filter_query(filters: Mapping[str, str]) -> str:
    """Each keyword is the value of a tag or of a param; a param may also be the number or the truth that the text spells."""
    return " and ".join(_clause(key, str(value)) for key, value in filters.items())


def _clause(key: str, value: str) -> str:
    # Dots lead into nested params, so that `optim.lr` finds both ways of writing it.
    path = ".".join(json.dumps(part) for part in key.split("."))
    text = json.dumps(value)
    choices = [f"tags.{json.dumps(key)} = {text}", f"params.{path} = {text}"]
    if _NUMBER.fullmatch(value):
        choices.append(f"params.{path} = {value.lstrip('+')}")
    elif value in ("True", "true", "False", "false"):
        choices.append(f"params.{path} = {value.lower()}")
    return f"({' or '.join(choices)})"
