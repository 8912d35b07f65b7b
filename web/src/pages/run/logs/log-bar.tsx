import { useEffect, useState } from "react";
import { Button } from "../../../widgets/button.tsx";
import { copyText } from "../../../widgets/copy-text.ts";
import { Select } from "../../../widgets/fields/select.tsx";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import { TextField } from "../../../widgets/fields/text-field.tsx";
import { useTypedText } from "../../../widgets/fields/typed-text.ts";
import { ArrowDownToLine, Regex, TriangleAlert, WrapText } from "../../../widgets/icons/icons.ts";
import { plainLine } from "./ansi.ts";
import styles from "./logs.module.css";
import type { RunSearch } from "../search.ts";

/** Typing has ended when no key was pressed for this long. */
const TYPED_MS = 250;
const NAME_MAX = 40;

interface LinesProps {
  search: RunSearch;
  ranks: readonly number[];
  streams: readonly string[];
  onChange: (change: Partial<Record<keyof RunSearch, unknown>>, replace?: boolean) => void;
}

/** Above the log: search, filters, and display options. */
export function LogBar({
  search,
  ranks,
  streams,
  follow,
  isLooking,
  copied,
  onChange,
  onFollow,
  onTrouble,
}: LinesProps & {
  follow: boolean;
  isLooking: boolean;
  copied: () => readonly string[];
  onFollow: (follow: boolean) => void;
  onTrouble: () => void;
}) {
  const field = useTypedText(
    search.find ?? "",
    (text) => onChange({ find: text === "" ? undefined : text, line: undefined }, search.find !== undefined),
    TYPED_MS,
  );
  return (
    <div className={styles.bar} role="toolbar" aria-label="Log">
      <TextField
        label="Find in the log"
        quiet
        mono
        placeholder={search.re === true ? "Find a pattern, such as loss=nan|inf" : "Find in the log"}
        {...field}
        className={styles.find}
      />
      <Toggle
        label="As a pattern (RE2)"
        on={search.re === true}
        onClick={() => onChange({ re: search.re === true ? undefined : true }, true)}
      >
        <Regex size={15} aria-hidden />
      </Toggle>
      <Whose search={search} ranks={ranks} streams={streams} onChange={onChange} />
      <Button onClick={onTrouble} disabled={isLooking}>
        <TriangleAlert size={14} aria-hidden /> Next error
      </Button>
      <span className={styles.space} />
      <Toggle
        label="Break long lines"
        on={search.wrap === true}
        onClick={() => onChange({ wrap: search.wrap === true ? undefined : true }, true)}
      >
        <WrapText size={15} aria-hidden />
      </Toggle>
      <CopyLines lines={copied} />
      <Toggle label="Follow the end of the log" on={follow} onClick={() => onFollow(!follow)}>
        <ArrowDownToLine size={15} aria-hidden /> Follow
      </Toggle>
    </div>
  );
}

/** Chooses a rank and a stream; the current one is always listed, even if it has no lines. */
function Whose({ search: { rank, stream }, ranks, streams, onChange }: LinesProps) {
  const shownRanks = rank === undefined || ranks.includes(rank) ? ranks : [...ranks, rank];
  const shownStreams = stream === undefined || streams.includes(stream) ? streams : [...streams, stream];
  return (
    <>
      {shownRanks.length > 0 && (
        <Select
          label="Rank"
          value={rank === undefined ? "all" : String(rank)}
          choices={[
            { value: "all", label: "all" },
            ...shownRanks.map((one) => ({ value: String(one), label: String(one) })),
          ]}
          onChange={(value) =>
            onChange({ rank: value === "all" ? undefined : Number(value), line: undefined })
          }
        />
      )}
      {shownStreams.length > 1 && (
        <Select
          label="Stream"
          value={stream ?? ""}
          choices={[
            { value: "", label: "all" },
            ...shownStreams.map((one) => ({ value: one, label: cutText(visibleText(one), NAME_MAX) })),
          ]}
          onChange={(value) => onChange({ stream: value === "" ? undefined : value, line: undefined })}
        />
      )}
    </>
  );
}

function CopyLines({ lines }: { lines: () => readonly string[] }) {
  const [outcome, setOutcome] = useState("");
  const copy = async () => {
    const texts = lines();
    const isDone = await copyText(texts.map(plainLine).join("\n"));
    setOutcome(isDone ? `${texts.length} lines copied` : "Could not copy");
  };
  useEffect(() => {
    if (outcome === "") return undefined;
    const timer = setTimeout(() => setOutcome(""), 2_000);
    return () => clearTimeout(timer);
  }, [outcome]);
  return (
    <Button label="Copy the lines that were read" onClick={() => void copy()}>
      <span role="status">{outcome === "" ? "Copy" : outcome}</span>
    </Button>
  );
}

function Toggle({
  label,
  on,
  onClick,
  children,
}: {
  label: string;
  on: boolean;
  onClick: () => void;
  children: React.ReactNode;
}) {
  return (
    <Button label={label} aria-pressed={on} onClick={onClick} className={on ? styles.on : undefined}>
      {children}
    </Button>
  );
}
