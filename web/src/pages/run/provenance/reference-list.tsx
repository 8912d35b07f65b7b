import { Plus, X } from "../../../widgets/icons/icons.ts";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../../widgets/button.tsx";
import { TextField } from "../../../widgets/fields/text-field.tsx";
import styles from "./provenance.module.css";

/** References to data, one to a row, to add and remove. There is always a row to type in. */
export function ReferenceList({
  label,
  rows,
  faultOf,
  onChange,
  autoFocus = false,
}: {
  label: string;
  rows: readonly string[];
  /** What is wrong with a row. */
  faultOf: (index: number) => string | undefined;
  onChange: (rows: string[]) => void;
  autoFocus?: boolean;
}) {
  const shown = rows.length === 0 ? [""] : rows;
  const list = useRef<HTMLFieldSetElement>(null);
  // The row that gets the focus after the next change.
  const [wanted, setWanted] = useState(autoFocus ? 0 : -1);
  useEffect(() => {
    if (wanted < 0) return;
    list.current?.querySelectorAll("input")[wanted]?.focus();
    setWanted(-1);
  }, [wanted]);
  const add = () => {
    onChange([...shown, ""]);
    setWanted(shown.length);
  };
  const remove = (index: number) => {
    onChange(shown.filter((_, i) => i !== index));
    setWanted(Math.max(0, index - 1));
  };
  return (
    <fieldset ref={list} className={styles.references}>
      <legend>{label}</legend>
      {shown.map((row, i) => {
        const fault = faultOf(i);
        const name = `${label} ${i + 1}`;
        return (
          <div key={i} className={styles.reference}>
            <TextField
              label={name}
              quiet
              mono
              value={row}
              onChange={(text) => onChange(shown.map((each, at) => (at === i ? text : each)))}
              {...(fault !== undefined && { error: fault })}
            />
            <Button
              label={`Remove ${name}`}
              onClick={() => remove(i)}
              disabled={shown.length === 1 && row === ""}
              quiet
            >
              <X size={14} aria-hidden />
            </Button>
          </div>
        );
      })}
      <Button onClick={add} quiet>
        <Plus size={14} aria-hidden /> Add {label.toLowerCase()}
      </Button>
    </fieldset>
  );
}
