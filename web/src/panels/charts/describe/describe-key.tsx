import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { KeyDescription } from "#proto/cairn/v1/key_pb.ts";
import { betterWords } from "#lang/words/directions.ts";
import { cairn } from "../../../data/server.ts";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import { Button } from "../../../widgets/button.tsx";
import { Select } from "../../../widgets/fields/select.tsx";
import { TextField } from "../../../widgets/fields/text-field.tsx";
import { Name } from "../../../widgets/name.tsx";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { Dialog } from "../../../widgets/popups/dialog.tsx";
import { keyDescriptions } from "../catalogue.ts";
import { descriptionOf, formOf, rangeFaults, type KeyForm } from "./key-form.ts";
import styles from "./describe.module.css";

const TITLE_MAX = 60;
const DIRECTIONS = [
  { value: "0", label: "not known" },
  { value: "2", label: betterWords("max") },
  { value: "1", label: betterWords("min") },
] as const;
const PICTURES = [
  { value: "0", label: "as logged" },
  { value: "1", label: "line" },
  { value: "2", label: "share of one, 0 to 1" },
] as const;

/** A form for the unit, direction, range and meaning of a metric key, for all users of a namespace. */
export function DescribeKey({
  namespace,
  metric,
  known,
  onClose,
}: {
  namespace: string;
  metric: string;
  known: KeyDescription | undefined;
  onClose: () => void;
}) {
  const id = useId();
  const [form, setForm] = useState(() => formOf(known));
  const faults = rangeFaults(form);
  const save = useDescribe(namespace, onClose);
  const isFaulty = faults.min !== undefined || faults.max !== undefined;
  return (
    <Dialog
      title={`Describe ${visibleText(cutText(metric, TITLE_MAX))}`}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button primary type="submit" form={id} disabled={isFaulty || save.isPending}>
            Save
          </Button>
        </>
      }
    >
      <form
        id={id}
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!isFaulty && !save.isPending)
            save.mutate(descriptionOf(form, { namespace, key: metric }, known));
        }}
      >
        <Fields form={form} faults={faults} onChange={(patch) => setForm({ ...form, ...patch })} />
        <p className={styles.note}>
          For all users of <Name text={namespace} mono /> and the namespaces below it. Charts always show the
          range; leave an end empty to follow the values.
        </p>
        {save.error !== null && <ErrorNote error={save.error} />}
      </form>
    </Dialog>
  );
}

function Fields({
  form,
  faults,
  onChange,
}: {
  form: KeyForm;
  faults: ReturnType<typeof rangeFaults>;
  onChange: (patch: Partial<KeyForm>) => void;
}) {
  return (
    <>
      <TextField
        label="Description"
        value={form.description}
        onChange={(description) => onChange({ description })}
        placeholder="What it measures"
      />
      <div className={styles.row}>
        <TextField
          label="Unit"
          value={form.unit}
          onChange={(unit) => onChange({ unit })}
          placeholder="s, %, tokens/s"
        />
        <TextField
          label="Smallest value"
          value={form.min}
          onChange={(min) => onChange({ min })}
          inputMode="decimal"
          {...(faults.min !== undefined && { error: faults.min })}
        />
        <TextField
          label="Largest value"
          value={form.max}
          onChange={(max) => onChange({ max })}
          inputMode="decimal"
          {...(faults.max !== undefined && { error: faults.max })}
        />
      </div>
      <div className={styles.selects}>
        <Select
          label="Direction"
          value={form.direction}
          choices={DIRECTIONS}
          onChange={(direction) => onChange({ direction })}
        />
        <Select
          label="Drawn as"
          value={form.picture}
          choices={PICTURES}
          onChange={(picture) => onChange({ picture })}
        />
      </div>
    </>
  );
}

function useDescribe(namespace: string, onSaved: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (description: ReturnType<typeof descriptionOf>) => cairn.metrics.describeKey({ description }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keyDescriptions(namespace).queryKey });
      // Directions of metrics are part of what is known of a namespace.
      void client.invalidateQueries({ queryKey: ["known-keys"] });
      onSaved();
    },
  });
}
