"""The state of the git repository of the code that runs.

A repository may be untrusted, and its configuration can name programs: hooks, filters, external diffs, file
system monitors. None of them is run: each is switched off by name for every call.
"""

from __future__ import annotations

import os
import re
import subprocess
import time

from cairn.capture.patch import redact_patch
from cairn.capture.secret_files import secret_pathspecs
from cairn.capture.secrets import redact_url

PATCH_BYTES_MAX = 1 << 20
_ANSWER_BYTES_MAX = 1 << 20
_FILTERS_MAX = 100

_SAFE = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=false",
    "credential.helper=",
    "diff.external=",
    "diff.orderFile=/dev/null",
    "diff.submodule=short",
    "submodule.recurse=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "color.ui=false",
)
_DIFF = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--no-relative",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "HEAD",
    "--",
    ".",
)


class _Git:
    def __init__(self, folder: str, until: float) -> None:
        self._folder = folder
        self._until = until
        self._options = [part for setting in _SAFE for part in ("-c", setting)]
        self._env = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name == "GIT_DIR"
        }
        self._env.update(GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0", GIT_PAGER="cat", LC_ALL="C")

    def switch_off(self, filter_name: str) -> None:
        for setting in ("clean=", "smudge=", "process=", "required=false"):
            self._options += ["-c", f"filter.{filter_name}.{setting}"]

    def ask(self, *arguments: str, bytes_max: int = _ANSWER_BYTES_MAX) -> bytes | None:
        """None when git fails, is missing, or takes too long."""
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            return None
        try:
            answer = subprocess.run(
                ["git", "--no-pager", *self._options, *arguments],
                cwd=self._folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=left_s,
                check=False,
            )
        except (OSError, ValueError, subprocess.SubprocessError):
            return None
        return answer.stdout if answer.returncode == 0 and len(answer.stdout) <= bytes_max else None


def read_git(folder: str, timeout_s: float) -> tuple[dict[str, str], list[str]]:
    """The fields of cairn.v1.Code that git knows, and what is left out, one sentence each. Empty outside a repository."""
    git = _Git(folder, time.monotonic() + timeout_s)
    root = _line(git.ask("rev-parse", "--show-toplevel"))
    if not root:
        return {}, []
    commit = _line(git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}"))
    branch = _line(git.ask("symbolic-ref", "--quiet", "--short", "HEAD"))
    remote = _line(git.ask("config", "--get", f"branch.{branch}.remote")) if branch else ""
    repository = _line(git.ask("config", "--get", f"remote.{remote or 'origin'}.url"))
    code = {"repository": redact_url(repository), "commit": commit, "branch": branch}
    notes: list[str] = []
    config = git.ask("config", "--list", "--null", "--name-only")
    filters = sorted(set(re.findall(rb"(?:^|\0)filter\.([^\0]+)\.[a-z]+(?=\0)", config or b"")))
    if config is None or len(filters) > _FILTERS_MAX:
        notes.append("the uncommitted changes are left out: the configuration of the repository cannot be read")
    elif commit:
        for name in filters:
            git.switch_off(os.fsdecode(name))
        patch = _Git.ask(git, "-C", root, *_DIFF, *secret_pathspecs(), bytes_max=PATCH_BYTES_MAX)
        if patch is None:
            notes.append(
                f"the uncommitted changes are left out: they took too long or have over {PATCH_BYTES_MAX} bytes"
            )
        else:
            text = patch.decode("utf-8", "replace")
            code["dirty_patch"] = redact_patch(text)
            if code["dirty_patch"] != text:
                notes.append("the patch has credentials in it; they are redacted")
    return {name: value for name, value in code.items() if value}, notes


def _line(answer: bytes | None) -> str:
    return "" if answer is None else answer.decode("utf-8", "replace").strip("\n")
