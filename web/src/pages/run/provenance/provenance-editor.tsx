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
  const set = (patch: Partial<ProvenanceForm>) => setForm({ ...form, ...patch });
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
        <ReferenceList
          label="Training data"
          rows={form.trainingData}
          faultOf={(i) => faults.get(`trainingData ${i}`)}
          onChange={(trainingData) => set({ trainingData })}
          autoFocus
        />
        <ReferenceList
          label="Test data"
          rows={form.testData}
          faultOf={(i) => faults.get(`testData ${i}`)}
          onChange={(testData) => set({ testData })}
        />
        <div className={styles.pairs}>
          <TextField
            label="Feature pipeline"
            value={form.featurePipeline}
            error={faults.get("featurePipeline")}
            onChange={(featurePipeline) => set({ featurePipeline })}
            mono
          />
          <TextField
            label="Initial state"
            value={form.initialState}
            error={faults.get("initialState")}
            onChange={(initialState) => set({ initialState })}
            placeholder="Such as a checkpoint"
            mono
          />
          <TextField
            label="Study"
            value={form.study}
            error={faults.get("study")}
            onChange={(study) => set({ study })}
          />
          <TextField
            label="Logs"
            value={form.logsLocation}
            error={faults.get("logsLocation")}
            onChange={(logsLocation) => set({ logsLocation })}
            placeholder="Outside of this server"
            mono
          />
        </div>
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
