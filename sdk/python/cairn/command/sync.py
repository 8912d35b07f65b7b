"""`cairn sync`: delivers what training jobs have left in the spool."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.command.errors import FAILED, NOT_FOUND, UNREACHABLE, CommandError, reason
from cairn.command.options import Parser
from cairn.command.output.terminal import Terminal
from cairn.command.output.text import printable
from cairn.command.output.words import count_of
from cairn.command.spool.leftover_delivery import (
    Counts,
    Failed,
    LeftoverDelivery,
    Progress,
    Refusal,
    deliver_folder,
    describe_frame,
)
from cairn.command.spool.leftovers import (
    Left,
    is_owner_alive,
    list_folders,
    look_into,
    read_owner,
    remove_folder,
)
from cairn.delivery.segment import read_frame
from cairn.delivery.spool import spool_folder
from cairn.failure import Failure
from cairn.login import find_server


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
    #: Frames that were refused at an earlier delivery.
    refused_before: int = 0
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
    if options.discard:
        _discard(terminal, spool)
        return
    looked = [_look(folder) for folder in list_folders(spool)]
    reports = looked if options.dry_run else _deliver_all(terminal, looked)
    if terminal.options.json:
        terminal.print_json({"folders": [_json(report) for report in reports]})
    else:
        _print(terminal, reports, spool, options.dry_run)
    bad = [report for report in reports if not report.is_whole]
    if bad and not options.dry_run:
        away = all(isinstance(one.failure, Failure) and one.failure.reason == "UNREACHABLE" for one in bad)
        terminal.exit_code = UNREACHABLE if away else FAILED


def _parser() -> Parser:
    parser = Parser(
        "sync",
        "deliver what training jobs left in the spool",
        more="Delivers what training jobs have left in the spool, each to its own server unless --server names\n"
        "another. What jobs left that ran without a server goes to the one of CAIRN_SERVER, or else of the last login.\n"
        "Data that a running job is still writing is skipped. Exits with 0 only when everything else was delivered.",
        examples="""
        cairn sync
        cairn sync --dry-run
        cairn sync /scratch/job-7/spool --server https://cairn.example.org
        cairn sync --discard""",
    )
    parser.add_argument(
        "dir",
        nargs="?",
        help="a spool, or the folder of one writer in it; by default CAIRN_SPOOL or ~/.local/state/cairn/spool",
    )
    parser.switch("--dry-run", "only print what would be delivered")
    parser.switch("--discard", "destroy what the server has refused; it deletes nothing else")
    return parser


def _look(folder: Path) -> _Report:
    owner = read_owner(folder)
    report = _Report(folder, server=owner.server if owner is not None and owner.server_set else "")
    try:
        left: Left = look_into(folder)
        report = report._replace(is_alive=is_owner_alive(folder, owner))
    except FileNotFoundError:
        # The process that delivers the last of a folder removes it: another one was faster.
        return report._replace(is_done=True)
    except Exception as error:
        return report._replace(failure=error)
    return report._replace(run_id=left.name, left=left.frames, damages=left.damages, refused_before=len(left.refused))


def _deliver_all(terminal: Terminal, looked: list[_Report]) -> list[_Report]:
    total = sum(report.left for report in looked if not report.is_alive)
    progress = terminal.progress("delivering", total)

    def on_refused(refusal: Refusal) -> None:
        progress.end()
        kept = "it is lost" if refusal.kept is None else f"kept as {refusal.kept}"
        terminal.note(f"the server refuses {printable(refusal.what)}: {printable(refusal.why)} ({kept})")

    callbacks = Progress(lambda: progress.add(1), on_refused)
    reports = []
    for report in looked:
        is_over = report.is_alive or report.is_done or report.failure is not None
        only_refused = report.left == 0 and report.refused_before > 0 and not _has_segments(report.folder)
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
        server = find_server(terminal.options.server or report.server or None)
        report = report._replace(server=server.url)
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
        run_id=run_id, is_done=failure is None, left=max(0, total - done), counts=counts, failure=failure
    )


def _print(terminal: Terminal, reports: list[_Report], spool: Path, dry_run: bool) -> None:
    if not reports:
        terminal.print(f"nothing to deliver in {printable(str(spool))}")
        return
    for report in reports:
        terminal.print(f"{printable(report.run_id or report.folder.name)}: {_describe(report, dry_run)}")
        if report.damages:
            terminal.note(
                f"  {count_of(report.damages, 'place')} in {report.folder} cannot be read; the data there is lost"
            )
    refused = sum(report.counts.refused + report.refused_before for report in reports)
    if refused:
        terminal.note(
            f"{count_of(refused, 'frame')} refused by a server {'is' if refused == 1 else 'are'} kept for you to look "
            "at; `cairn sync --discard` destroys what is not needed"
        )


def _describe(report: _Report, dry_run: bool) -> str:
    counts, folder = report.counts, report.folder
    if report.is_alive:
        return f"still being written by its process; {count_of(report.left, 'frame')} wait"
    if report.failure is not None:
        return f"{count_of(report.left, 'frame')} left in {folder}: {reason(report.failure)}"
    if dry_run:
        server = report.server or "the server of CAIRN_SERVER or the last login"
        return f"{count_of(report.left, 'frame')} for {printable(server)}"
    parts = [f"{count_of(counts.envelopes, 'envelope')} delivered"]
    if counts.uploads:
        parts.append(f"{count_of(counts.uploads, 'file')} uploaded")
    if counts.sources:
        parts.append(f"{count_of(counts.sources, 'source')} linked")
    if counts.descriptions:
        parts.append(f"{count_of(counts.descriptions, 'metric')} described")
    if counts.lost:
        parts.append(f"{count_of(counts.lost, 'envelope')} declared lost")
    if counts.refused:
        parts.append(f"{count_of(counts.refused, 'frame')} refused, kept in {folder / 'refused'}")
    elif report.refused_before:
        parts.append(f"{count_of(report.refused_before, 'frame')} refused before, kept in {folder / 'refused'}")
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
        "refusedBefore": report.refused_before,
        "error": reason(report.failure) or None,
    }


def _discard(terminal: Terminal, spool: Path) -> None:
    """Destroys the refused frames of folders whose process has ended."""
    discarded: list[dict[str, str]] = []
    for folder in list_folders(spool):
        if is_owner_alive(folder, read_owner(folder)):
            continue
        for path in look_into(folder).refused:
            found = read_frame(path.read_bytes(), 0)
            what = describe_frame(found[0]) if found is not None else "a frame"
            path.unlink()
            discarded.append({"file": str(path), "what": what})
        if not _has_segments(folder):
            remove_folder(folder)
    if terminal.options.json:
        terminal.print_json({"discarded": discarded})
        return
    for one in discarded:
        terminal.print(f"discarded {printable(one['what'])} ({one['file']})")
    if not discarded:
        terminal.print(f"nothing was refused in {printable(str(spool))}")
