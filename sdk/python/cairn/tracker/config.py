"""The configuration of the TorchX tracker: one string, and what the job's environment adds to it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from cairn.captures import Chosen, choose_captures, split_parts
from cairn.delivery.spool import spool_folder
from cairn.login import Server, find_server
from cairn.namespaces import check_namespace
from cairn.notices import warn
from cairn.ranks import read_rank

_WAIT_S = 2.0
_HANDLE = re.compile(r"(.+)://(.*)/(.+)", re.DOTALL)
_SECRET_OPTIONS = ("token", "password", "key", "secret", "auth")
_OPTIONS = ("wait_s", "spool", "base", "end", "capture")


class TrackerConfig(NamedTuple):
    server: Server
    #: What reads cover, with everything below it.
    namespace: str
    #: Where runs of this job are created: below the namespace, by the name of the experiment.
    job_namespace: str
    #: The run this process is part of; empty outside a job.
    job_id: str
    job_name: str
    spool: Path
    #: How long a call waits for the server before it leaves things to the spool.
    wait_s: float
    #: Whether the end of this process ends the run.
    ends_run: bool
    #: What is captured inside a job.
    chosen: Chosen


def parse_config(config: str | None, env: Mapping[str, str] | None = None) -> TrackerConfig:
    """`http://host:4700/langtech/asr?wait_s=2`. Without one: CAIRN_SERVER or this machine, and CAIRN_NAMESPACE or `default`.

    Raises ValueError for an invalid config.
    """
    env = os.environ if env is None else env
    text = (config or "").strip()
    options: dict[str, str] = {}
    address, path = None, ""
    if text:
        if "://" not in text:
            text = f"http://{text}"
        parts = urlsplit(text)
        options = _read_options(parts.query)
        address = f"{parts.scheme}://{parts.netloc}{options.get('base', '')}"
        path = unquote(parts.path).strip("/")
    namespace = check_namespace(path or env.get("CAIRN_NAMESPACE") or "default")
    server = find_server(address, env=env)
    rank = read_rank(env).rank
    job_id = env.get("TORCHX_JOB_ID", "")
    return TrackerConfig(
        server=server,
        namespace=namespace,
        job_namespace=_extend(namespace, env.get("TORCHX_TRACKING_EXPERIMENT_NAME", "")),
        job_id=job_id,
        job_name=env.get("TORCHX_TRACKING_RUN_NAME", ""),
        spool=Path(options["spool"]) if options.get("spool") else spool_folder(env),
        wait_s=_seconds(options.get("wait_s", "")),
        ends_run=bool(job_id) and rank in (None, 0) and options.get("end", "1") not in ("0", "false", "no"),
        chosen=_captures(options.get("capture")),
    )


def _captures(option: str | None) -> Chosen:
    try:
        return choose_captures(None if option is None else split_parts(option))
    except ValueError as error:
        warn("capture", f"{error}; nothing is captured")
        return Chosen(frozenset())


def _read_options(query: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if any(word in name.lower() for word in _SECRET_OPTIONS):
            warn(
                "secret",
                f'option "{name}" of the tracker config is ignored: TorchX writes the config into its logs, so a secret there '
                "is known. Revoke it, and use CAIRN_TOKEN or CAIRN_TOKEN_FILE",
            )
        elif name in _OPTIONS:
            options[name] = value
        else:
            warn(
                f"option {name}",
                f'option "{name}" of the tracker config is not one of {", ".join(_OPTIONS)}: it is ignored',
            )
    return options


def _extend(namespace: str, experiment: str) -> str:
    """The namespace of an experiment. An invalid name is left out, with a warning."""
    clean = "/".join(part.strip() for part in experiment.split("/") if part.strip() not in ("", ".", ".."))
    if not clean:
        return namespace
    try:
        return check_namespace(f"{namespace}/{clean}")
    except ValueError as error:
        warn("experiment", f"{error}; runs go to {namespace} instead")
        return namespace


def _seconds(text: str) -> float:
    try:
        return min(60.0, max(0.0, float(text))) if text else _WAIT_S
    except ValueError:
        warn("wait_s", f'wait_s "{text}" of the tracker config is not a number of seconds: {_WAIT_S} is used')
        return _WAIT_S


def name_of(run_id: str) -> str:
    """What a person calls a run of TorchX: the last part of its handle."""
    match = _HANDLE.fullmatch(run_id)
    return match[3] if match else run_id
