import { Button } from "../../widgets/button.tsx";
import { SlidersHorizontal } from "../../widgets/icons/icons.ts";
import { Popover } from "../../widgets/popups/popover.tsx";
import { Select } from "../../widgets/fields/select.tsx";
import { TextField } from "../../widgets/fields/text-field.tsx";
import { useTypedText } from "../../widgets/fields/typed-text.ts";
import styles from "./charts.module.css";
import { XField } from "./x-field.tsx";
import {
  SMOOTHINGS,
  smoothingParts,
  type ChartSearch,
  type ChartSearchPatch,
  type SmoothingName,
} from "./search.ts";

interface ToolbarProps {
  search: ChartSearch;
  onSearch(patch: ChartSearchPatch, how?: "push" | "replace"): void;
  /** The error of the filter. */
  error: string | undefined;
  hasLabels: boolean;
  /** A restart replaced points. */
  hasRewound: boolean;
  /** All metrics there are, in order. */
  keys: readonly string[];
  /** Beside a table: rarely used controls are behind a button. */
  isNarrow: boolean;
  /** Such as "12 charts". */
  words: string;
}

const GROUP_CHOICES = [
  { value: "runs", label: "Runs" },
  { value: "mean-std", label: "Mean ± deviation" },
  { value: "mean-stderr", label: "Mean ± error" },
  { value: "mean-ci95", label: "Mean, 95 % interval" },
  { value: "mean-minmax", label: "Mean, min to max" },
  { value: "median-minmax", label: "Median, min to max" },
] as const;
const LABEL_CHOICES = [
  { value: "each", label: "Each" },
  { value: "mean", label: "Mean" },
  { value: "min", label: "Min" },
  { value: "max", label: "Max" },
  { value: "p95", label: "95th percentile" },
  { value: "heat", label: "Heat map" },
] as const;
const SMOOTHING_CHOICES = (Object.keys(SMOOTHINGS) as SmoothingName[]).map((value) => ({
  value,
  label: SMOOTHINGS[value].label,
}));

/** How all charts of the panel are drawn. Everything here is in the address. */
export function ChartsToolbar(props: ToolbarProps) {
  const { search, onSearch, error, words, isNarrow } = props;
  const set = [search.logy, search.clip, search.rewound, search.labels, search.group].filter(
    (each) => each !== undefined,
  );
  return (
    <div className={styles.toolbar} role="toolbar" aria-label="Charts">
      <KeyField value={search.keys ?? ""} error={error} onSearch={onSearch} />
      <XField search={search} keys={props.keys} onSearch={onSearch} />
      {isNarrow ? (
        <Popover
          label="How charts are drawn"
          align="end"
          trigger={
            <Button>
              <SlidersHorizontal size={14} aria-hidden />
              {set.length + Number(search.smooth !== undefined) || ""}
              <span className={styles.unseen}>How charts are drawn</span>
            </Button>
          }
        >
          <div className={styles.stack}>
            <DrawingFields {...props} />
          </div>
        </Popover>
      ) : (
        <DrawingFields {...props} />
      )}
      {(search.range !== undefined || search.yrange !== undefined) && (
        <Button onClick={() => onSearch({ range: undefined, yrange: undefined })}>Reset zoom</Button>
      )}
      {!isNarrow && <span className={styles.words}>{words}</span>}
    </div>
  );
}

function DrawingFields({ search, onSearch, hasLabels, hasRewound }: ToolbarProps) {
  const grouped = search.group ?? "runs";
  const isListed = GROUP_CHOICES.some(({ value }) => value === grouped);
  return (
    <>
      <SmoothingFields search={search} onSearch={onSearch} />
      <Toggle on={search.logy === true} onChange={(on) => onSearch({ logy: on || undefined })}>
        Log y
      </Toggle>
      <Toggle on={search.clip === true} onChange={(on) => onSearch({ clip: on || undefined })}>
        Clip outliers
      </Toggle>
      {(hasRewound || search.rewound === true) && grouped === "runs" && search.xkey === undefined && (
        <Toggle on={search.rewound === true} onChange={(on) => onSearch({ rewound: on || undefined })}>
          Rewound
        </Toggle>
      )}
      {hasLabels && grouped === "runs" && (
        <Select
          label="Labels"
          value={search.labels ?? "each"}
          choices={LABEL_CHOICES}
          onChange={(labels) => onSearch({ labels: labels === "each" ? undefined : labels })}
        />
      )}
      <Select
        label="Lines"
        value={grouped}
        choices={isListed ? GROUP_CHOICES : [...GROUP_CHOICES, { value: grouped, label: grouped }]}
        onChange={(group) => onSearch({ group: group === "runs" ? undefined : group })}
      />
    </>
  );
}

const TYPING_MS = 250;

/** The typed text is written to the address when typing stops. */
function KeyField({
  value,
  error,
  onSearch,
}: {
  value: string;
  error: string | undefined;
  onSearch: ToolbarProps["onSearch"];
}) {
  const field = useTypedText(
    value,
    (text) => onSearch({ keys: text === "" ? undefined : text }, "replace"),
    TYPING_MS,
  );
  return (
    <TextField
      className={styles.filter}
      label="Filter charts"
      quiet
      mono
      type="search"
      placeholder="loss, val/*, /acc$/"
      {...field}
      {...(error !== undefined && { error })}
    />
  );
}

function SmoothingFields({ search, onSearch }: Pick<ToolbarProps, "search" | "onSearch">) {
  const { name, amount } = smoothingParts(search.smooth);
  const { from, to, step } = SMOOTHINGS[name];
  return (
    <>
      <Select
        label="Smoothing"
        quiet
        value={name}
        choices={SMOOTHING_CHOICES}
        onChange={(next) =>
          onSearch({ smooth: next === "none" ? undefined : `${next}-${SMOOTHINGS[next].start}` })
        }
      />
      {name !== "none" && (
        <span className={styles.slider}>
          <input
            type="range"
            aria-label="Amount of smoothing"
            min={from}
            max={to}
            step={step}
            value={amount}
            onChange={(event) => onSearch({ smooth: `${name}-${event.target.value}` }, "replace")}
          />
          <output>{amount}</output>
        </span>
      )}
    </>
  );
}

function Toggle({
  on,
  onChange,
  children,
}: {
  on: boolean;
  onChange: (on: boolean) => void;
  children: string;
}) {
  return (
    <Button aria-pressed={on} className={on ? styles.on : undefined} onClick={() => onChange(!on)}>
      {children}
    </Button>
  );
}
