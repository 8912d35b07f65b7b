import type { MetricStat } from "#lang/query/ast.ts";
import { findField, printField } from "#lang/query/field-text.ts";
import { METRIC_STATS } from "#lang/query/fields.ts";
import { useState, type ReactElement } from "react";
import { Button } from "../../widgets/button.tsx";
import { Name } from "../../widgets/name.tsx";
import { Popover } from "../../widgets/popups/popover.tsx";
import { Select } from "../../widgets/fields/select.tsx";
import { TextField } from "../../widgets/fields/text-field.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import { fieldLabel } from "../../data/runs/field.ts";
import { bestField, type KnownKeys } from "../../data/runs/known-keys.ts";
import type { RunFields } from "./answers/queries.ts";
import styles from "./pickers.module.css";
import { NO_FIELD } from "./search.ts";

interface Offer {
  text: string;
  label: string;
  of: string;
}

interface FieldPickerProps {
  /** What the field is for, such as "Colour". */
  label: string;
  /** The field, or NO_FIELD. */
  value?: string | undefined;
  listed: RunFields | undefined;
  known: KnownKeys | undefined;
  /** Only metrics can be an objective. */
  metricsOnly?: boolean;
  /** Whether there may be none. */
  optional?: boolean;
  /** Replaces the default button with the chosen field. */
  trigger?: ReactElement;
  onChange: (text: string) => void;
}

const OFFERED_MAX = 200;
const BEST = "best";
const STATS = [BEST, ...METRIC_STATS] as const;

/** Chooses one property of runs, with a search by a part of its name. */
export function FieldPicker(props: FieldPickerProps) {
  const { label, value, trigger, onChange } = props;
  const [isOpen, setOpen] = useState(false);
  const choose = (text: string) => {
    setOpen(false);
    onChange(text);
  };
  return (
    <Popover
      label={`Choose ${label.toLowerCase()}`}
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        trigger ?? (
          <Button className={styles.picked} title={`${label}: ${visibleText(labelOf(value))}`}>
            <span className={styles.caption}>{label}:</span> <Name text={labelOf(value)} />
          </Button>
        )
      }
    >
      <Offers {...props} onChange={choose} />
    </Popover>
  );
}

function labelOf(text: string | undefined): string {
  const field = text === undefined || text === NO_FIELD ? undefined : findField(text);
  return field === undefined ? "none" : fieldLabel(field);
}

function Offers({ label, value, listed, known, metricsOnly, optional, onChange }: FieldPickerProps) {
  const [wanted, setWanted] = useState("");
  const [stat, setStat] = useState<MetricStat | typeof BEST>(BEST);
  const lower = wanted.trim().toLowerCase();
  const found = offersOf(listed, known, stat, metricsOnly === true).filter((offer) =>
    `${offer.of} ${offer.label}`.toLowerCase().includes(lower),
  );
  return (
    <div className={styles.offers}>
      <div className={styles.find}>
        <TextField
          label={`Find ${label.toLowerCase()}`}
          quiet
          placeholder="Find …"
          value={wanted}
          onChange={setWanted}
        />
        <Select
          label="What of metrics"
          quiet
          value={stat}
          onChange={setStat}
          choices={STATS.map((name) => ({ value: name, label: name }))}
        />
      </div>
      <ul className={styles.list}>
        {optional && lower === "" && (
          <li>
            <button type="button" className={styles.offer} onClick={() => onChange(NO_FIELD)}>
              <span className={styles.offerName}>none</span>
            </button>
          </li>
        )}
        {found.slice(0, OFFERED_MAX).map((offer) => (
          <li key={offer.text}>
            <button
              type="button"
              className={styles.offer}
              aria-pressed={offer.text === value}
              onClick={() => onChange(offer.text)}
            >
              <span className={styles.offerName}>
                <Name text={offer.label} />
              </span>
              <span className={styles.of}>{offer.of}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > OFFERED_MAX && (
        <p className={styles.quiet}>{found.length - OFFERED_MAX} more: type a part of the name.</p>
      )}
      {found.length === 0 && <p className={styles.quiet}>No matches.</p>}
    </div>
  );
}

function offersOf(
  listed: RunFields | undefined,
  known: KnownKeys | undefined,
  stat: MetricStat | typeof BEST,
  metricsOnly: boolean,
): Offer[] {
  const metrics = (known?.metrics ?? []).map((key): Offer => {
    const field = stat === BEST ? bestField(key, known) : { of: "metric" as const, key, stat };
    return { text: printField(field), label: key, of: field.stat };
  });
  if (metricsOnly) return metrics;
  const params = listed?.params ?? [];
  const paramOffer = ({ text, key }: { text: string; key: string }): Offer => ({
    text,
    label: key,
    of: "param",
  });
  return [
    ...params.filter(({ varies }) => varies).map(paramOffer),
    ...metrics,
    ...(listed?.tags ?? []).map((key) => ({ text: printField({ of: "tag", key }), label: key, of: "tag" })),
    ...["status", "namespace", "duration"].map((name) => ({ text: name, label: name, of: "run" })),
    ...params
      .filter(({ varies }) => !varies)
      .map(({ text, key }) => ({ text, label: key, of: "param, the same in all" })),
  ];
}
