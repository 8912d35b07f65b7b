import { useState, type ReactElement } from "react";
import { Button } from "../../widgets/button.tsx";
import { ArrowLeft, ArrowRight, X } from "../../widgets/icons/icons.ts";
import { Name } from "../../widgets/name.tsx";
import { Popover } from "../../widgets/popups/popover.tsx";
import { TextField } from "../../widgets/fields/text-field.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import type { Axis, ScaleKind } from "./columns/axis.ts";
import type { Brush } from "./columns/brush.ts";
import styles from "./pickers.module.css";

export interface AxisMenuProps {
  axis: Axis;
  brush: Brush | undefined;
  trigger: ReactElement;
  onBrush: (brush: Brush | undefined) => void;
  onScale: (scale: ScaleKind) => void;
  onMove?: ((step: -1 | 1) => void) | undefined;
  onRemove?: (() => void) | undefined;
}

const CATEGORIES_MAX = 100;

/** All actions of an axis without a pointer: filter by it, change its scale, move it. */
export function AxisMenu({ axis, brush, trigger, onBrush, onScale, onMove, onRemove }: AxisMenuProps) {
  const { column } = axis;
  const name = visibleText(column.label);
  return (
    <Popover label={`Axis ${name}`} trigger={trigger}>
      <div className={styles.menu}>
        <h2 className={styles.menuTitle}>
          <Name text={column.label} />
        </h2>
        {column.kind === "number" ? (
          <Range key={JSON.stringify(brush)} brush={brush} onBrush={onBrush} />
        ) : (
          <Values axis={axis} brush={brush} onBrush={onBrush} />
        )}
        {axis.hasNone && (
          <Box
            label="Runs without a value"
            checked={brush?.none === true}
            onChange={(isOn) => {
              const { none: _, ...rest } = brush ?? {};
              onBrush(isOn ? { ...rest, none: true } : rest);
            }}
          />
        )}
        {column.kind === "number" && (
          <Box
            label={axis.mayBeLog ? "Log axis" : "Log axis (needs values above 0)"}
            checked={axis.scale === "log"}
            disabled={!axis.mayBeLog}
            onChange={(isOn) => onScale(isOn ? "log" : "linear")}
          />
        )}
        <div className={styles.menuRow}>
          {onMove && (
            <>
              <Button label={`Move ${name} left`} onClick={() => onMove(-1)}>
                <ArrowLeft size={14} aria-hidden />
              </Button>
              <Button label={`Move ${name} right`} onClick={() => onMove(1)}>
                <ArrowRight size={14} aria-hidden />
              </Button>
            </>
          )}
          {onRemove && (
            <Button onClick={onRemove}>
              <X size={14} aria-hidden /> Remove
            </Button>
          )}
          {brush !== undefined && <Button onClick={() => onBrush(undefined)}>Clear filter</Button>}
        </div>
      </div>
    </Popover>
  );
}

function Range({ brush, onBrush }: { brush: Brush | undefined; onBrush: (brush: Brush) => void }) {
  const [from, setFrom] = useState(brush?.from === undefined ? "" : String(brush.from));
  const [to, setTo] = useState(brush?.to === undefined ? "" : String(brush.to));
  const isBad = (text: string) => text.trim() !== "" && !Number.isFinite(Number(text));
  const settle = () => {
    if (isBad(from) || isBad(to)) return;
    const { none } = brush ?? {};
    onBrush({
      ...(from.trim() !== "" && { from: Number(from) }),
      ...(to.trim() !== "" && { to: Number(to) }),
      ...(none && { none }),
    });
  };
  return (
    <form
      className={styles.range}
      onSubmit={(event) => {
        event.preventDefault();
        settle();
      }}
    >
      <TextField
        label="From"
        value={from}
        onChange={setFrom}
        inputMode="decimal"
        {...(isBad(from) && { error: "not a number" })}
      />
      <TextField
        label="To"
        value={to}
        onChange={setTo}
        inputMode="decimal"
        {...(isBad(to) && { error: "not a number" })}
      />
      <Button type="submit">Filter</Button>
    </form>
  );
}

function Values({
  axis,
  brush,
  onBrush,
}: {
  axis: Axis;
  brush: Brush | undefined;
  onBrush: (brush: Brush) => void;
}) {
  const { categories } = axis.column;
  const wanted = new Set(brush?.of);
  const toggle = (key: string) => {
    const of = wanted.has(key) ? [...wanted].filter((each) => each !== key) : [...wanted, key];
    const { of: _, ...rest } = brush ?? {};
    onBrush(of.length === 0 ? rest : { ...rest, of });
  };
  return (
    <>
      <ul className={styles.list}>
        {categories.slice(0, CATEGORIES_MAX).map(({ key, label, count }) => (
          <li key={key}>
            <Box label={label} count={count} checked={wanted.has(key)} onChange={() => toggle(key)} />
          </li>
        ))}
      </ul>
      {categories.length > CATEGORIES_MAX && (
        <p className={styles.quiet}>
          {categories.length - CATEGORIES_MAX} more values: use the query to select them.
        </p>
      )}
    </>
  );
}

function Box({
  label,
  count,
  checked,
  disabled = false,
  onChange,
}: {
  label: string;
  count?: number;
  checked: boolean;
  disabled?: boolean;
  onChange: (isOn: boolean) => void;
}) {
  return (
    <label className={styles.box}>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <Name text={label} />
      {count !== undefined && <span className={styles.of}>{count}</span>}
    </label>
  );
}
