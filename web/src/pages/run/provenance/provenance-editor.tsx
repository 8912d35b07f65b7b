import { useState, type FormEvent, type KeyboardEvent } from "react";
import { Button } from "../../../widgets/button.tsx";
import { TextField } from "../../../widgets/fields/text-field.tsx";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { Card } from "../card.tsx";
import { useUpdateRun } from "../overview/use-update-run.ts";
import page from "../run.module.css";
import { changeOf, faultsOf, type ProvenanceForm } from "./provenance-form.ts";
import styles from "./provenance.module.css";
import { ReferenceList } from "./reference-list.tsx";

/** A form for the data, pipeline, study and logs of a run. It stays open until it is saved or cancelled. */
export function ProvenanceEditor({
  runId,
  before,
  onDone,
}: {
  runId: string;
  before: ProvenanceForm;
  /** With what was saved; without it when nothing was. */
  onDone: (after?: ProvenanceForm) => void;
}) {
  const [form, setForm] = useState(before);
  const update = useUpdateRun(runId);
  const faults = faultsOf(form);
  const change = changeOf(before, form);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (faults.size > 0 || update.isPending) return;
    if (change === undefined) onDone();
    else update.mutate(change, { onSuccess: () => onDone(form) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && change === undefined) onDone();
  };
  return (
    <Card title="Edit provenance" tools={<span className={page.quiet}>Enter saves</span>}>
      <form className={styles.form} onSubmit={save} onKeyDown={onKeyDown}>
        <p className={page.none}>
          Data is a location, optionally with a version or digest: <code>s3://data/c4@v3</code>,{" "}
          <code>hf://squad@sha256:0a1b…</code>, <code>git@example.org:team/features.git@4f2a91c</code>.
        </p>
        <Fields form={form} faults={faults} onChange={(patch) => setForm({ ...form, ...patch })} />
        {update.error !== null && <ErrorNote error={update.error} />}
        <div className={page.buttons}>
          <Button primary type="submit" disabled={faults.size > 0 || update.isPending}>
            Save
          </Button>
          <Button onClick={() => onDone()}>Cancel</Button>
        </div>
      </form>
    </Card>
  );
}

function Fields({
  form,
  faults,
  onChange,
}: {
  form: ProvenanceForm;
  faults: ReadonlyMap<string, string>;
  onChange: (patch: Partial<ProvenanceForm>) => void;
}) {
  return (
    <>
      <ReferenceList
        label="Training data"
        rows={form.trainingData}
        faultOf={(i) => faults.get(`trainingData ${i}`)}
        onChange={(trainingData) => onChange({ trainingData })}
        autoFocus
      />
      <ReferenceList
        label="Test data"
        rows={form.testData}
        faultOf={(i) => faults.get(`testData ${i}`)}
        onChange={(testData) => onChange({ testData })}
      />
      <div className={styles.pairs}>
        <TextField
          label="Feature pipeline"
          value={form.featurePipeline}
          error={faults.get("featurePipeline")}
          onChange={(featurePipeline) => onChange({ featurePipeline })}
          mono
        />
        <TextField
          label="Initial state"
          value={form.initialState}
          error={faults.get("initialState")}
          onChange={(initialState) => onChange({ initialState })}
          placeholder="Such as a checkpoint"
          mono
        />
        <TextField
          label="Study"
          value={form.study}
          error={faults.get("study")}
          onChange={(study) => onChange({ study })}
        />
        <TextField
          label="Logs"
          value={form.logsLocation}
          error={faults.get("logsLocation")}
          onChange={(logsLocation) => onChange({ logsLocation })}
          placeholder="Outside of this server"
          mono
        />
      </div>
    </>
  );
}
