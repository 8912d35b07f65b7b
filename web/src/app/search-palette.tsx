import { Dialog as Base } from "@base-ui/react/dialog";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useId, useRef, useState, type KeyboardEvent } from "react";
import { namespaces } from "../data/queries.ts";
import { cairn } from "../data/server.ts";
import { readShortId } from "../data/runs/short-id.ts";
import { shortId } from "#sdk/run-facts.ts";
import { useFieldFocus } from "../widgets/fields/field-focus.ts";
import { countOf } from "#lang/words/numbers.ts";
import { Folder, LineChart, Search, SquareArrowOutUpRight } from "../widgets/icons/icons.ts";
import { Name } from "../widgets/name.tsx";
import { StatusDot } from "../widgets/status-dot.tsx";
import {
  entryKey,
  idsFirst,
  localEntries,
  metricQuery,
  runsQuery,
  stillFitting,
  type PaletteEntry,
} from "./palette-entries.ts";
import styles from "./search-palette.module.css";

const RUNS_MAX = 8;
const DEBOUNCE_MS = 120;

/** Search everything: arrows select a result, Enter opens it. */
export function SearchPalette({ open, onClose }: { open: boolean; onClose: () => void }) {
  const focus = useFieldFocus();
  return (
    <Base.Root
      open={open}
      onOpenChange={(now) => {
        if (!now) onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup {...focus} className={styles.palette} aria-label="Search everything">
          <Finder onClose={onClose} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

function Finder({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  /** Chosen by an arrow or the pointer; undefined for the first. */
  const [key, setKey] = useState<string>();
  /** Enter was pressed before the results of the typed text arrived. */
  const [isWaiting, setWaiting] = useState(false);
  const id = useId();
  const go = useGo();
  const { entries, isCurrent, error } = useEntries(typed);
  const known = key === undefined ? 0 : entries.findIndex((entry) => entryKey(entry) === key);
  const chosen = Math.min(Math.max(0, known), entries.length - 1);
  const choose = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return;
    onClose();
    go(entry);
  };
  const chooseNow = useEffectEvent(() => {
    setWaiting(false);
    // A selected result that is not found any more is not replaced by another one.
    if (known >= 0) choose(entries[chosen]);
  });
  useEffect(() => {
    if (isWaiting && isCurrent) chooseNow();
  }, [isWaiting, isCurrent]);
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setKey(entryKey(entries[(chosen + step + entries.length) % entries.length]!));
    } else if (event.key === "Enter") setWaiting(true);
  };
  return (
    <>
      <div className={styles.field}>
        <Search size={16} aria-hidden />
        <input
          className={styles.input}
          role="combobox"
          aria-expanded
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen < 0 ? undefined : `${id}-${chosen}`}
          aria-label="Search everything"
          placeholder="A run, an id, an alias, a namespace, a metric …"
          value={typed}
          maxLength={500}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => {
            setTyped(event.target.value);
            setKey(undefined);
            setWaiting(false);
          }}
          onKeyDown={press}
        />
      </div>
      <Found
        id={id}
        entries={entries}
        chosen={chosen}
        typed={typed}
        isCurrent={isCurrent}
        onChoose={choose}
        onPoint={(entry) => setKey(entryKey(entry))}
      />
      <p className={styles.foot} role="status">
        {error
          ? "The search failed."
          : entries.length === 0
            ? isCurrent
              ? "No matches."
              : "Searching …"
            : ""}
        {entries.length > 0 && "↑ ↓ to choose, Enter to go, Esc to close"}
      </p>
    </>
  );
}

function Found({
  id,
  entries,
  chosen,
  typed,
  isCurrent,
  onChoose,
  onPoint,
}: {
  id: string;
  entries: readonly PaletteEntry[];
  chosen: number;
  typed: string;
  isCurrent: boolean;
  onChoose: (entry: PaletteEntry) => void;
  onPoint: (entry: PaletteEntry) => void;
}) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    <ul
      ref={list}
      className={styles.list}
      role="listbox"
      id={`${id}-list`}
      aria-label="Found"
      aria-busy={!isCurrent}
    >
      {entries.map((entry, i) => (
        <li
          key={entryKey(entry)}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === chosen}
          className={styles.entry}
          onClick={() => onChoose(entry)}
          onPointerMove={() => onPoint(entry)}
        >
          <Entry entry={entry} typed={typed} />
        </li>
      ))}
    </ul>
  );
}

function Entry({ entry, typed }: { entry: PaletteEntry; typed: string }) {
  switch (entry.kind) {
    case "page":
      return (
        <>
          <SquareArrowOutUpRight size={14} aria-hidden /> {entry.title}
        </>
      );
    case "namespace":
      return (
        <>
          <Folder size={14} aria-hidden /> <Name text={entry.title} />
          <span className={styles.aside}>{countOf(entry.runCount, "run")}</span>
        </>
      );
    case "metric":
      return (
        <>
          <LineChart size={14} aria-hidden /> <Name text={entry.title} mono />
          <span className={styles.aside}>metric of {countOf(entry.runCount, "run")}</span>
        </>
      );
    case "run":
      return (
        <>
          <span className={styles.dot}>
            <StatusDot status={entry.run.status} bare />
          </span>
          <Name text={entry.title} />
          <span className={styles.aside}>
            {readShortId(typed) !== undefined && `${shortId(entry.run.id)} in `}
            <Name text={entry.run.namespace} />
          </span>
        </>
      );
  }
}

/** `isCurrent`: they are the complete results of the typed text. */
function useEntries(typed: string): { entries: PaletteEntry[]; isCurrent: boolean; error: unknown } {
  const { data: tree = [] } = useQuery(namespaces);
  const text = typed.trim();
  const found = useQuery({
    queryKey: ["palette", text],
    enabled: text !== "",
    staleTime: 5_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      // Debounce: most keys are followed by another one.
      await new Promise((resolve) => setTimeout(resolve, DEBOUNCE_MS));
      signal.throwIfAborted();
      return findRemote(text, signal);
    },
  });
  const isCurrent = text === "" || found.isError || (found.isSuccess && !found.isPlaceholderData);
  const answer = text === "" || found.isError ? [] : (found.data ?? []);
  const remote = isCurrent ? answer : stillFitting(answer, text);
  return { entries: [...remote, ...localEntries(typed, tree)], isCurrent, error: found.error };
}

async function findRemote(text: string, signal: AbortSignal): Promise<PaletteEntry[]> {
  const columns = ["aliases"];
  const [runs, having] = await Promise.all([
    cairn.runs.searchRuns({ query: runsQuery(text), pageSize: RUNS_MAX, columns }, { signal }),
    cairn.runs.searchRuns({ query: metricQuery(text), pageSize: 1, columns }, { signal }),
  ]);
  const metric: PaletteEntry[] =
    having.totalCount === 0n
      ? []
      : [{ kind: "metric", title: text, query: metricQuery(text), runCount: Number(having.totalCount) }];
  return [
    ...metric,
    ...idsFirst(runs.runs, text).map((run): PaletteEntry => ({ kind: "run", title: run.name, run })),
  ];
}

function useGo(): (entry: PaletteEntry) => void {
  const navigate = useNavigate();
  return (entry) => {
    switch (entry.kind) {
      case "page":
        if (entry.to === "/n" || entry.to === "/explore") {
          void navigate({ to: `${entry.to}/$`, params: { _splat: "" } });
        } else void navigate({ to: entry.to });
        break;
      case "namespace":
        void navigate({ to: "/n/$", params: { _splat: entry.path } });
        break;
      case "run":
        void navigate({ to: "/r/$run", params: { run: entry.run.id } });
        break;
      case "metric":
        void navigate({ to: "/n/$", params: { _splat: "" }, search: { q: entry.query } });
    }
  };
}
