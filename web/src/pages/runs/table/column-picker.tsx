import { METRIC_STATS, RUN_FIELDS } from "#lang/query/fields.ts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../widgets/button.tsx";
import { ArrowDown, ArrowUp, Pin, PinOff, Plus, X } from "../../../widgets/icons/icons.ts";
import { Popover } from "../../../widgets/popups/popover.tsx";
import { Select } from "../../../widgets/fields/select.tsx";
import { TextField } from "../../../widgets/fields/text-field.tsx";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import styles from "./column-picker.module.css";
import { isOfProvenance, printPageField, type PageField } from "../../../data/runs/field.ts";
import { ENVIRONMENT_RUNS, environmentKeys } from "../../../data/runs/key-queries.ts";
import type { KnownKeys } from "../../../data/runs/known-keys.ts";
import type { Column } from "./layout.ts";

interface ColumnPickerProps {
  namespace: string;
  columns: readonly Column[];
  known: KnownKeys | undefined;
  isChanged: boolean;
  onChange: (columns: string[]) => void;
  onPin: (text: string, isPinned: boolean) => void;
  onReset: () => void;
}

interface Offer {
  text: string;
  label: string;
  of: string;
}

const OFFERED_MAX = 200;
const LENGTH_MAX = 80;
const STATS = [...METRIC_STATS, "line"] as const;
type StatChoice = (typeof STATS)[number];

/** Chooses, orders and pins columns. */
export function ColumnPicker(props: ColumnPickerProps) {
  const { namespace, columns, known, isChanged, onChange, onPin, onReset } = props;
  const texts = columns.map(({ text }) => text);
  const move = (text: string, step: number) => {
    const others = texts.filter((each) => each !== text);
    others.splice(texts.indexOf(text) + step, 0, text);
    onChange(others);
  };
  return (
    <Popover label="Columns" align="end" trigger={<Button>Columns {columns.length}</Button>}>
      <div className={styles.picker}>
        <section className={styles.chosen} aria-label="Chosen columns">
          <h2 className={styles.title}>Shown</h2>
          <ul className={styles.list}>
            {columns.slice(1).map(({ text, label, stickyLeft }, i) => {
              const name = visibleText(cutText(label, LENGTH_MAX));
              const isPinned = stickyLeft !== undefined;
              return (
                <li key={text} className={styles.item}>
                  <span className={styles.label} title={text}>
                    {name}
                  </span>
                  <Button quiet label={`Move ${name} up`} disabled={i === 0} onClick={() => move(text, -1)}>
                    <ArrowUp size={13} aria-hidden />
                  </Button>
                  <Button
                    quiet
                    label={`Move ${name} down`}
                    disabled={i === columns.length - 2}
                    onClick={() => move(text, 1)}
                  >
                    <ArrowDown size={13} aria-hidden />
                  </Button>
                  <Button
                    quiet
                    label={isPinned ? `Unpin ${name}` : `Pin ${name}`}
                    onClick={() => onPin(text, !isPinned)}
                  >
                    {isPinned ? <PinOff size={13} aria-hidden /> : <Pin size={13} aria-hidden />}
                  </Button>
                  <Button
                    quiet
                    label={`Remove ${name}`}
                    onClick={() => onChange(texts.filter((each) => each !== text))}
                  >
                    <X size={13} aria-hidden />
                  </Button>
                </li>
              );
            })}
          </ul>
          <Button quiet disabled={!isChanged} onClick={onReset}>
            Back to the default
          </Button>
        </section>
        <Offers
          namespace={namespace}
          known={known}
          shown={new Set(texts)}
          onAdd={(text) => onChange([...texts, text])}
        />
      </div>
    </Popover>
  );
}

function Offers({
  namespace,
  known,
  shown,
  onAdd,
}: {
  namespace: string;
  known: KnownKeys | undefined;
  shown: ReadonlySet<string>;
  onAdd: (text: string) => void;
}) {
  const [wanted, setWanted] = useState("");
  const [stat, setStat] = useState<StatChoice>("last");
  const { data: environment } = useQuery(environmentKeys(namespace));
  const lower = wanted.trim().toLowerCase();
  const found = offersOf(known, environment, stat).filter(
    ({ text, label, of }) => !shown.has(text) && `${of} ${label}`.toLowerCase().includes(lower),
  );
  return (
    <section className={styles.offers} aria-label="More columns">
      <div className={styles.find}>
        <TextField label="Find a column" quiet placeholder="Find …" value={wanted} onChange={setWanted} />
        <Select
          label="What to show of metrics"
          quiet
          value={stat}
          onChange={setStat}
          choices={STATS.map((value) => ({ value, label: value }))}
        />
      </div>
      <ul className={styles.list}>
        {found.slice(0, OFFERED_MAX).map(({ text, label, of }) => (
          <li key={text}>
            <button type="button" className={styles.offer} onClick={() => onAdd(text)} title={text}>
              <Plus size={13} aria-hidden />
              <span className={styles.label}>{visibleText(cutText(label, LENGTH_MAX))}</span>
              <span className={styles.of}>{of}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > OFFERED_MAX && (
        <p className={styles.more}>{found.length - OFFERED_MAX} more: type a part of the name.</p>
      )}
      {found.length === 0 && <p className={styles.more}>No matches.</p>}
      <p className={styles.more}>Environment variables are those of the {ENVIRONMENT_RUNS} newest runs.</p>
    </section>
  );
}

function offersOf(
  known: KnownKeys | undefined,
  environment: readonly string[] | undefined,
  stat: StatChoice,
): Offer[] {
  const offer = (field: PageField, label: string, of: string): Offer => ({
    text: printPageField(field),
    label,
    of,
  });
  const metric = (key: string): PageField =>
    stat === "line" ? { of: "line", key } : { of: "metric", key, stat };
  return [
    ...(known?.metrics ?? []).map((key) => offer(metric(key), key, stat)),
    ...(known?.params ?? []).map((key) => offer({ of: "param", key }, key, "param")),
    ...(known?.tags ?? []).map((key) => offer({ of: "tag", key }, key, "tag")),
    ...RUN_FIELDS.filter((name) => name !== "name").map((name) =>
      offer({ of: "run", name }, name.replaceAll("_", " "), isOfProvenance(name) ? "provenance" : "run"),
    ),
    offer({ of: "provenance", name: "command" }, "command", "provenance"),
    ...(environment ?? []).map((key) => offer({ of: "environment", key }, key, "environment")),
  ];
}
