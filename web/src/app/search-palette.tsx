import { Dialog as Base } from "@base-ui/react/dialog";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Folder, LineChart, Search, SquareArrowOutUpRight } from "lucide-react";
import {
  useDeferredValue,
  useEffect,
  useEffectEvent,
  useId,
  useRef,
  useState,
  type KeyboardEvent,
} from "react";
import { namespaces } from "../data/queries.ts";
import { cairn } from "../data/server.ts";
import { useFieldFocus } from "../widgets/field-focus.ts";
import { formatCount } from "../widgets/format.ts";
import { Name } from "../widgets/name.tsx";
import { StatusDot } from "../widgets/status-dot.tsx";
import { localEntries, metricQuery, runsQuery, type PaletteEntry } from "./palette-entries.ts";
import styles from "./search-palette.module.css";

const RUNS_MAX = 8;
const DEBOUNCE_MS = 120;

/** Search everything: where to go is chosen by arrows and Enter. */
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
  const [at, setAt] = useState(0);
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const go = useGo();
  const shown = useDeferredValue(typed);
  const { entries, isSearching, isOld, error } = useEntries(shown);
  const chosen = Math.min(at, entries.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const choose = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return;
    onClose();
    go(entry);
  };
  // Enter may come before what was typed is found: then it is gone there when it is.
  const [isHurried, setHurried] = useState(false);
  const isFound = shown === typed && !isOld;
  const goNow = useEffectEvent(() => {
    setHurried(false);
    if (!error) choose(entries[chosen]);
  });
  useEffect(() => {
    if (isHurried && isFound) goNow();
  }, [isHurried, isFound]);
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setAt((chosen + step + entries.length) % entries.length);
      setHurried(false);
    } else if (event.key === "Enter") {
      if (isFound) choose(entries[chosen]);
      else setHurried(true);
    }
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
            setAt(0);
            setHurried(false);
          }}
          onKeyDown={press}
        />
      </div>
      <ul
        ref={list}
        className={styles.list}
        role="listbox"
        id={`${id}-list`}
        aria-label="Found"
        aria-busy={!isFound}
      >
        {entries.map((entry, i) => (
          <li
            key={`${entry.kind} ${entry.kind === "run" ? entry.run.id : entry.title}`}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === chosen}
            className={styles.entry}
            onClick={() => choose(entry)}
            onPointerMove={() => setAt(i)}
          >
            <Entry entry={entry} />
          </li>
        ))}
      </ul>
      <p className={styles.foot} role="status">
        {error
          ? "The server could not be asked."
          : entries.length === 0 && !isSearching
            ? "Nothing has that name."
            : ""}
        {entries.length > 0 && "↑ ↓ to choose, Enter to go, Esc to close"}
      </p>
    </>
  );
}

function Entry({ entry }: { entry: PaletteEntry }) {
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
          <span className={styles.aside}>{runsWords(entry.runCount)}</span>
        </>
      );
    case "metric":
      return (
        <>
          <LineChart size={14} aria-hidden /> <Name text={entry.title} mono />
          <span className={styles.aside}>metric of {runsWords(entry.runCount)}</span>
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
            <Name text={entry.run.namespace} />
          </span>
        </>
      );
  }
}

function runsWords(count: number): string {
  return count === 1 ? "1 run" : `${formatCount(count)} runs`;
}

interface Entries {
  entries: PaletteEntry[];
  isSearching: boolean;
  /** What the server found for another text, or nothing yet. */
  isOld: boolean;
  error: unknown;
}

function useEntries(typed: string): Entries {
  const { data: tree = [] } = useQuery(namespaces);
  const text = typed.trim();
  const found = useQuery({
    queryKey: ["palette", text],
    enabled: text !== "",
    staleTime: 5_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      // Most keys are followed by another one.
      await new Promise((resolve) => setTimeout(resolve, DEBOUNCE_MS));
      signal.throwIfAborted();
      return findRemote(text, signal);
    },
  });
  const remote = text === "" ? [] : (found.data ?? []);
  return {
    entries: [...remote, ...localEntries(typed, tree)],
    isSearching: found.isFetching,
    isOld: text !== "" && (found.isPlaceholderData || found.isPending),
    error: found.error,
  };
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
  return [...metric, ...runs.runs.map((run): PaletteEntry => ({ kind: "run", title: run.name, run }))];
}

function useGo(): (entry: PaletteEntry) => void {
  const navigate = useNavigate();
  return (entry) => {
    switch (entry.kind) {
      case "page":
        if (entry.to === "/n") {
          void navigate({ to: "/n/$", params: { _splat: "" } });
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
