"""The state of the work tree of the code that runs, as far as git says it in time. What it does not say is unknown."""

from __future__ import annotations

import os
from pathlib import Path

from cairn.capture.git_program import MISSING, Git, Outcome
from cairn.capture.patch import redact_patch
from cairn.capture.secret_files import is_secret_path, secret_pathspecs
from cairn.capture.secrets import redact_text, redact_url
from cairn.provenance import CHANGED, UNCHANGED, Code

PATCH_BYTES_MAX = 1 << 20
_LIST_BYTES_MAX = 32 << 20
_SUBMODULES_MAX = 50
_SUBMODULE_DEPTH_MAX = 5

_STATUS = ("status", "--porcelain=v2", "-z", "--no-renames", "--ignore-submodules=dirty")
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
    "--full-index",
    "--binary",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
)


def find_repository(folder: str) -> str | None:
    """The folder with the repository that a folder is in, by looking upwards."""
    at = Path(os.path.abspath(folder))
    for place in (at, *at.parents):
        if os.path.lexists(place / ".git"):
            return str(place)
    return None


def read_git(folder: str, timeout_s: float) -> tuple[Code | None, list[str]]:
    """The code, and what is left out, one sentence each. None outside a repository, and where nothing is known of it."""
    if find_repository(folder) is None:
        return None, []
    git = Git(folder, timeout_s)
    top = git.ask("rev-parse", "--show-toplevel")
    if top is MISSING:
        return None, [MISSING.cause]
    if top.cause:
        return _unknown(top.cause)
    root = top.line
    if not _is_work_tree(root, folder):
        return None, ["the repository configures a work tree somewhere else"]
    config = git.ask("config", "--list", "--null")
    if config.cause:
        return _unknown(f"its configuration cannot be read: {config.cause}")
    git = git.below(root)
    head = git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    on_branch = git.ask("symbolic-ref", "--quiet", "--short", "HEAD")
    branch = on_branch.line
    code = Code(repository=_remote(config.output, branch), commit=head.line, branch=branch)
    if git.late in (head, on_branch):
        return code._replace(patch_left_out=git.late.cause), [f"the state of the work tree is unknown: {git.late.cause}"]
    if not git.switch_filters_off(config.output):
        return _unknown("the repository has filters that cannot be switched off", code)
    return _read_changes(git, root, code)


def _unknown(cause: str, code: Code | None = None) -> tuple[Code, list[str]]:
    reason = redact_text(cause)
    return (code or Code())._replace(patch_left_out=reason), [f"the state of the work tree is unknown: {reason}"]


def _read_changes(git: Git, root: str, code: Code) -> tuple[Code, list[str]]:
    notes: list[str] = []
    status = git.ask(*_STATUS, "--untracked-files=no", bytes_max=_LIST_BYTES_MAX)
    if status.cause:
        code, notes = _unknown(status.cause, code)
    else:
        paths, moved = _changed_paths(status.output)
        code = code._replace(tracked_changes=CHANGED if paths else UNCHANGED)
        if paths:
            code, notes = _add_patch(git, code, paths)
        others = git.ask("ls-files", "--others", "--exclude-standard", "-z", bytes_max=_LIST_BYTES_MAX)
        if others.cause:
            notes.append(f"untracked files are unknown: {others.cause}")
        else:
            code = code._replace(untracked_files=others.output.count(b"\0"))
        dirty = _dirty_submodules(git, root)
        if dirty is None:
            notes.append("changes in submodules are unknown")
        else:
            code = code._replace(changed_submodules=len(moved | dirty))
            if dirty:
                notes.append(f"changes inside of {_count(len(dirty), 'submodule')} are not in the patch")
    return code, notes


def _changed_paths(status: bytes) -> tuple[list[str], set[str]]:
    """What git tracks and is changed, and which of these are submodules."""
    paths: list[str] = []
    submodules: set[str] = set()
    for entry in status.split(b"\0"):
        kind = entry[:1]
        fields = entry.split(b" ", 10 if kind == b"u" else 8)
        if kind not in (b"1", b"u") or len(fields) < 9:
            continue
        path = os.fsdecode(fields[-1])
        paths.append(path)
        if fields[2][:1] == b"S":
            submodules.add(path)
    return paths, submodules


def _add_patch(git: Git, code: Code, paths: list[str]) -> tuple[Code, list[str]]:
    base = code.commit
    if not base:
        # Before the first commit all that is tracked is new; the name of the empty tree depends on the repository.
        empty = git.ask("hash-object", "-t", "tree", "/dev/null")
        if empty.cause:
            return _without_patch(code, empty)
        base = empty.line
    patch = git.ask(*_DIFF, base, "--", ":(top)", *secret_pathspecs(), bytes_max=PATCH_BYTES_MAX)
    if patch.cause:
        return _without_patch(code, patch)
    notes: list[str] = []
    text = patch.output.decode("utf-8", "replace")
    if text.encode("utf-8") != patch.output:
        notes.append("the patch has bytes that are not UTF-8; they are replaced, and those lines do not apply")
    clean = redact_patch(text)
    if clean != text:
        notes.append("the patch has credentials in it; they are redacted")
    secret = sum(map(is_secret_path, paths))
    left_out = f"{_count(secret, 'file')} that may hold secrets" if secret else ""
    return code._replace(dirty_patch=clean, patch_left_out=left_out), notes


def _without_patch(code: Code, outcome: Outcome) -> tuple[Code, list[str]]:
    reason = redact_text(outcome.cause)
    left = code._replace(patch_left_out=reason, left_out_bytes=outcome.size)
    return left, [f"the uncommitted changes are left out: {reason}"]


def _dirty_submodules(git: Git, root: str, depth: int = 0) -> set[str] | None:
    """Submodules with changes of their own; None when that cannot be found out. Each is asked by itself, because git would
    run the filters of its configuration, which only that can switch off."""
    listed = git.ask("ls-files", "--stage", "-z", bytes_max=_LIST_BYTES_MAX)
    if listed.cause:
        return None
    found = [os.fsdecode(entry.split(b"\t", 1)[1]) for entry in listed.output.split(b"\0") if entry[:7] == b"160000 "]
    if len(found) > _SUBMODULES_MAX or (found and depth >= _SUBMODULE_DEPTH_MAX):
        return None
    dirty: set[str] = set()
    for path in found:
        folder = os.path.join(root, path)
        # Without it, it was not checked out: then nothing can be changed in it.
        if os.path.lexists(os.path.join(folder, ".git")):
            is_dirty = _is_dirty(git.below(folder), folder, depth + 1)
            if is_dirty is None:
                return None
            if is_dirty:
                dirty.add(path)
    return dirty


def _is_dirty(git: Git, folder: str, depth: int) -> bool | None:
    top = git.ask("rev-parse", "--show-toplevel")
    config = git.ask("config", "--list", "--null")
    if top.cause or os.path.realpath(top.line) != os.path.realpath(folder):
        return None
    if config.cause or not git.switch_filters_off(config.output):
        return None
    status = git.ask(*_STATUS, "--untracked-files=normal", bytes_max=_LIST_BYTES_MAX)
    if status.cause:
        return None
    if status.output:
        return True
    inner = _dirty_submodules(git, folder, depth)
    return None if inner is None else bool(inner)


def _is_work_tree(root: str, folder: str) -> bool:
    """A repository can name any folder as its work tree, such as `/`, and then the changes of "tracked" files there would be
    the content of files of this machine."""
    if not root or not os.path.lexists(os.path.join(root, ".git")):
        return False
    real, inner = os.path.realpath(root), os.path.realpath(folder)
    return inner == real or inner.startswith(real.rstrip(os.sep) + os.sep)


def _remote(config: bytes, branch: str) -> str:
    """Where the branch comes from, else `origin`, else the first one, without credentials."""
    settings: dict[str, str] = {}
    for entry in config.split(b"\0"):
        key, _, value = entry.partition(b"\n")
        settings[os.fsdecode(key)] = value.decode("utf-8", "replace")
    names = [settings.get(f"branch.{branch}.remote"), "origin"]
    known = [settings.get(f"remote.{name}.url") for name in names if name]
    known += [value for key, value in settings.items() if key.startswith("remote.") and key.endswith(".url")]
    return redact_url(next((url for url in known if url), ""))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
