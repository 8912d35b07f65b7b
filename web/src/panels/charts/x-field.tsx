import { useState } from "react";
import { formatCount } from "#lang/words/numbers.ts";
import { Dialog } from "../../widgets/popups/dialog.tsx";
import { Name } from "../../widgets/name.tsx";
import { Select } from "../../widgets/fields/select.tsx";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { TextField } from "../../widgets/fields/text-field.tsx";
import styles from "./x-field.module.css";
import { xKindOf, type ChartSearch, type ChartSearchPatch } from "./search.ts";

const CHOICES = [
  { value: "step", label: "Step" },
  { value: "time", label: "Time" },
  { value: "relative", label: "Since start" },
] as const;
const NAME_MAX = 24;
const OFFERED_MAX = 100;

/** Chooses the x axis: a kind of time, or a metric by its name. */
export function XField({
  search,
  keys,
  onSearch,
}: {
  search: ChartSearch;
  keys: readonly string[];
  onSearch: (patch: ChartSearchPatch) => void;
}) {
  const [isChoosing, setChoosing] = useState(false);
  const { xkey } = search;
  const chosen =
    xkey === undefined ? [] : [{ value: "metric", label: cutText(visibleText(xkey), NAME_MAX) } as const];
  return (
    <>
      <Select
        label="x"
        value={xKindOf(search)}
        choices={[...CHOICES, ...chosen, { value: "choose", label: "Metric…" } as const]}
        onChange={(x) => {
          if (x === "choose") setChoosing(true);
          else if (x !== "metric")
            onSearch({ x: x === "step" ? undefined : x, xkey: undefined, range: undefined });
        }}
      />
      <Dialog title="Metric along x" open={isChoosing} onClose={() => setChoosing(false)}>
        <KeyList
          keys={keys}
          onChoose={(key) => {
            setChoosing(false);
            onSearch({ x: "metric", xkey: key, range: undefined });
          }}
        />
      </Dialog>
    </>
  );
}

function KeyList({ keys, onChoose }: { keys: readonly string[]; onChoose: (key: string) => void }) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const found = keys.filter((key) => key.toLowerCase().includes(wanted));
  const offered = found.slice(0, OFFERED_MAX);
  const [first] = offered;
  return (
    <div className={styles.choice}>
      <TextField
        label="Find a metric"
        type="search"
        mono
        autoFocus
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (event.key === "Enter" && first !== undefined) onChoose(first);
        }}
        hint="Points are at its value at the same step."
      />
      <ul className={styles.keys} aria-label="Metrics">
        {offered.map((key) => (
          <li key={key}>
            <button type="button" className={styles.key} onClick={() => onChoose(key)}>
              <Name text={key} mono />
            </button>
          </li>
        ))}
      </ul>
      <p className={styles.rest} role="status">
        {found.length === 0
          ? "No matches."
          : found.length > OFFERED_MAX
            ? `${formatCount(found.length - OFFERED_MAX)} more: type a part of the name.`
            : ""}
      </p>
    </div>
  );
}
