"""`cairn sync`: delivers what training jobs have left in the spool."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.command.errors import FAILED, NOT_FOUND, UNREACHABLE, USAGE, CommandError, reason
from cairn.command.options import Parser
from cairn.command.output.terminal import Terminal
from cairn.command.output.text import printable
from cairn.command.output.words import count_of
from cairn.command.spool.leftover_delivery import (
    Counts,
    Failed,
    LeftoverDelivery,
    Progress,
    deliver_folder,
)
from cairn.command.spool.leftovers import (
    Left,
    is_owner_alive,
    list_folders,
    look_into,
    read_owner,
    remove_folder,
)
from cairn.command.spool.refused_frames import RefusedFrame, list_refused, reason_of, remove_refused, retry_refused
from cairn.delivery.refused import Refusal
from cairn.delivery.spool import spool_folder
from cairn.failure import Failure
from cairn.login import find_server

#: Of one folder; --json has all.
_REFUSED_SHOWN = 20


class _Report(NamedTuple):
    """The delivery of one folder."""

    folder: Path
    server: str = ""
    #: Before the server has named it, its name.
    run_id: str = ""
    #: Its process may still be writing: the folder was left alone.
    is_alive: bool = False
    #: Everything that can be read was delivered, or refused for good.
    is_done: bool = False
    #: Frames that are left.
    left: int = 0
    damages: int = 0
    #: What servers refused, now or before.
    refused: tuple[RefusedFrame, ...] = ()
    counts: Counts = Counts()
    failure: BaseException | None = None

    @property
    def is_whole(self) -> bool:
        """Whether everything of it was delivered."""
        return self.failure is None and (self.is_alive or (self.is_done and self.counts.refused == 0))


def run(terminal: Terminal, words: list[str]) -> None:
    options = _parser().read(words)
    spool = Path(options.dir) if options.dir is not None else spool_folder()
    if options.dir is not None and not spool.exists():
        raise CommandError(f'cannot read spool "{printable(str(spool))}": there is no such folder', exit_code=NOT_FOUND)
    if options.dry_run + options.retry + options.discard > 1:
        raise CommandError("cannot combine --dry-run, --retry and --discard", exit_code=USAGE, hint="use one of them")
    folders = list_folders(spool)
    if options.discard or options.retry:
        (_discard if options.discard else _retry)(terminal, folders)
        return
    looked = [_look(terminal, folder) for folder in folders]
    reports = looked if options.dry_run else _deliver_all(terminal, looked)
    if terminal.options.json:
        terminal.print_json({"folders": [_json(report) for report in reports]})
    else:
        _print(terminal, reports, spool, options)
    bad = [report for report in reports if not report.is_whole]
    if bad and not options.dry_run:
        away = all(isinstance(one.failure, Failure) and one.failure.reason == "UNREACHABLE" for one in bad)
        terminal.exit_code = UNREACHABLE if away else FAILED


def _parser() -> Parser:
    parser = Parser(
        "sync",
        "deliver what training jobs left in the spool",
        more="Delivers what training jobs have left in the spool, each to its own server unless --server names\n"
        "another. Data of jobs that ran without any server set goes to the one of --server, CAIRN_SERVER or the\n"
        "last login. Data that a running job is still writing is skipped. Exits with 0 only when everything else was\n"
        "delivered. What a server refuses is kept, and listed with the reason until --retry could send it or\n"
        "--discard deletes it.",
        examples="""
        cairn sync
        cairn sync --dry-run
        cairn sync /scratch/job-7/spool --server https://cairn.example.org
        cairn sync --retry""",
    )
    parser.add_argument(
        "dir",
        nargs="?",
        help="a spool, or the folder of one writer in it; by default CAIRN_SPOOL or ~/.local/state/cairn/spool",
    )
    parser.switch("--dry-run", "only print what would be delivered")
    parser.switch("--retry", "send what a server refused once more, and nothing else")
    parser.switch("--discard", "delete what a server refused, and nothing else")
    return parser


def _look(terminal: Terminal, folder: Path) -> _Report:
    report = _Report(folder)
    try:
        owner = read_owner(folder)
        left: Left = look_into(folder)
        chosen = terminal.options.server or (owner.server if owner is not None and owner.server_set else "")
        # Where the data of a job without any server would go is decided now.
        server = chosen if chosen and not terminal.options.server else find_server(chosen or None).url
        report = report._replace(is_alive=is_owner_alive(folder, owner), server=server)
    except FileNotFoundError:
        # The process that delivers the last of a folder removes it: another one was faster.
        return report._replace(is_done=True)
    except Exception as error:
        return report._replace(failure=error)
    refused = tuple(list_refused(folder))
    return report._replace(run_id=left.name, left=left.frames, damages=left.damages, refused=refused)


def _deliver_all(terminal: Terminal, looked: list[_Report]) -> list[_Report]:
    total = sum(report.left for report in looked if not report.is_alive)
    progress = terminal.progress("delivering", total)

    def on_lost(refusal: Refusal) -> None:
        progress.end()
        terminal.note(f"the server refuses {printable(refusal.what)}, and it is lost: {printable(refusal.why)}")

    callbacks = Progress(lambda: progress.add(1), on_lost)
    reports = []
    for report in looked:
        is_over = report.is_alive or report.is_done or report.failure is not None
        only_refused = report.left == 0 and report.refused and not _has_segments(report.folder)
        if is_over:
            reports.append(report)
        elif only_refused:
            reports.append(report._replace(is_done=True))
        else:
            reports.append(_deliver(terminal, report, callbacks))
    progress.end()
    return reports


def _has_segments(folder: Path) -> bool:
    return any(folder.glob("*.frames"))


def _deliver(terminal: Terminal, report: _Report, callbacks: Progress) -> _Report:
    total = report.left
    delivery: LeftoverDelivery | None = None
    failure: BaseException | None = None
    try:
        server = find_server(report.server)
        delivery = deliver_folder(Client(server), report.folder, callbacks)
    except Failed as failed:
        delivery, failure = failed.delivery, failed.failure
    except Exception as error:
        if report.folder.exists():
            failure = error
        else:
            return report._replace(is_done=True, left=0)
    counts = delivery.counts if delivery is not None else Counts()
    done = sum(counts) - counts.lost
    run_id = (delivery.run_id if delivery is not None else None) or report.run_id
    return report._replace(
        run_id=run_id,
        is_done=failure is None,
        left=max(0, total - done),
        counts=counts,
        failure=failure,
        refused=tuple(list_refused(report.folder)),
    )


def _print(terminal: Terminal, reports: list[_Report], spool: Path, options: argparse.Namespace) -> None:
    if not reports:
        terminal.print(f"nothing to deliver in {printable(str(spool))}")
        return
    for report in reports:
        terminal.print(f"{printable(report.run_id or report.folder.name)}: {_describe(report, options.dry_run)}")
        if report.damages:
            terminal.note(
                f"  {count_of(report.damages, 'place')} in {report.folder} cannot be read; the data there is lost"
            )
        for line in _refused_lines(list(report.refused)):
            terminal.note(line)
    refused = sum(len(report.refused) for report in reports)
    if refused:
        terminal.note(_advice(refused, options.dir))


def _describe(report: _Report, dry_run: bool) -> str:
    counts, folder = report.counts, report.folder
    if report.is_alive:
        return f"still being written by its process; {count_of(report.left, 'frame')} wait"
    if report.failure is not None:
        return f"{count_of(report.left, 'frame')} left in {folder}: {reason(report.failure)}"
    if dry_run:
        refused = f", {count_of(len(report.refused), 'frame')} refused before" if report.refused else ""
        return f"{count_of(report.left, 'frame')} for {printable(report.server)}{refused}"
    parts = [f"{count_of(counts.envelopes, 'envelope')} delivered"]
    if counts.uploads:
        parts.append(f"{count_of(counts.uploads, 'file')} uploaded")
    if counts.sources:
        parts.append(f"{count_of(counts.sources, 'source')} linked")
    if counts.descriptions:
        parts.append(f"{count_of(counts.descriptions, 'metric')} described")
    if counts.lost:
        parts.append(f"{count_of(counts.lost, 'envelope')} declared lost")
    if report.refused:
        parts.append(f"{count_of(len(report.refused), 'frame')} refused")
    if not report.is_done:
        parts.append(f"{count_of(report.left, 'frame')} left")
    return ", ".join(parts)


def _json(report: _Report) -> dict[str, Any]:
    return {
        "folder": str(report.folder),
        "writer": report.folder.name,
        "server": report.server,
        "runId": report.run_id or None,
        "isAlive": report.is_alive,
        "isDone": report.is_done,
        "left": report.left,
        "damages": report.damages,
        **report.counts._asdict(),
        "refusedFrames": [refused.json() for refused in report.refused],
        "error": reason(report.failure) or None,
    }


def _discard(terminal: Terminal, folders: list[Path]) -> None:
    """Deletes what was refused, and nothing else."""
    discarded = _refused_of(folders)
    for refused in discarded:
        remove_refused(refused)
    _remove_empty(folders)
    if terminal.options.json:
        terminal.print_json({"discarded": [refused.json() for refused in discarded]})
        return
    for refused in discarded:
        terminal.print(f"discarded {printable(refused.what)} ({printable(str(refused.path))})")
    if not discarded:
        terminal.print("nothing to discard")


def _retry(terminal: Terminal, folders: list[Path]) -> None:
    """Sends what was refused once more, and nothing else."""
    sent: list[RefusedFrame] = []
    kept: list[RefusedFrame] = []
    for refused in _refused_of(folders):
        try:
            retry_refused(Client(find_server(terminal.options.server or refused.server or None)), refused)
            remove_refused(refused)
            sent.append(refused)
        except Exception as error:
            kept.append(refused._replace(why=reason_of(error)))
    _remove_empty(folders)
    if kept:
        terminal.exit_code = FAILED
    if terminal.options.json:
        terminal.print_json({"sent": [one.json() for one in sent], "kept": [one.json() for one in kept]})
        return
    terminal.print(f"{count_of(len(sent), 'frame')} sent" if sent or kept else "nothing was refused")
    for line in _refused_lines(kept):
        terminal.note(line)


def _refused_of(folders: list[Path]) -> list[RefusedFrame]:
    return [refused for folder in folders if not _is_alive(folder) for refused in list_refused(folder)]


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        if not _is_alive(folder) and not _has_segments(folder):
            remove_folder(folder)


def _is_alive(folder: Path) -> bool:
    return folder.exists() and is_owner_alive(folder, read_owner(folder))


def _refused_lines(frames: list[RefusedFrame]) -> list[str]:
    """What the server refused, now or before, with the reasons."""
    lines = [
        f"  {printable(one.what)}: {printable(one.why) or 'the reason was not written down'} "
        f"({printable(str(one.path))})"
        for one in frames[:_REFUSED_SHOWN]
    ]
    more = len(frames) - len(lines)
    return [*lines, f"  … {more:,} more; --json has all"] if more > 0 else lines


def _advice(count: int, dir: str | None) -> str:
    where = "" if dir is None else f" {dir}"
    is_or_are, them = ("is", "it") if count == 1 else ("are", "them")
    return (
        f"{count_of(count, 'frame')} that the server refused {is_or_are} kept. When the reason is gone, "
        f"`cairn sync{where} --retry` sends {them} again; `cairn sync{where} --discard` deletes {them}."
    )
