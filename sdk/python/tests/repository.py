"""Repositories of git for tests."""

from __future__ import annotations

import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def make_repository(folder: Path) -> Path:
    """With one commit of `a.py`, on the branch main, and a remote with a password in its address."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.py").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    git(folder, "remote", "add", "origin", "https://user:hunter2@host/repository.git")
    return folder


def slow_git(folder: Path, seconds: float, only: str = "") -> Path:
    """A folder for PATH with a git that takes its time, for every command or only for one."""
    import shutil

    folder.mkdir()
    program = folder / "git"
    real = shutil.which("git")
    when = f'case " $* " in *" {only} "*) sleep {seconds};; esac' if only else f"sleep {seconds}"
    program.write_text(f'#!/bin/sh\n{when}\nexec {real} "$@"\n')
    program.chmod(0o755)
    return folder
