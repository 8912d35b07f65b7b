import { useState, type KeyboardEvent } from "react";
import { Role } from "#proto/cairn/v1/access_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { useHasRole } from "../../../data/use-has-role.ts";
import { Button } from "../../../widgets/button.tsx";
import { Pencil } from "../../../widgets/icons/icons.ts";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { Markdown } from "../../../widgets/texts/markdown.tsx";
import { Card } from "../card.tsx";
import styles from "../run.module.css";
import { useUpdateRun } from "./use-update-run.ts";

/** Notes about the run, in Markdown. */
export function NotesCard({ run }: { run: Run }) {
  const [before, setBefore] = useState<string>();
  const mayEdit = useHasRole(Role.WRITER, { namespace: run.namespace, runId: run.id });
  if (before !== undefined)
    return <NotesEditor run={run} before={before} onDone={() => setBefore(undefined)} />;
  return (
    <Card
      title="Notes"
      tools={
        mayEdit && (
          <Button label="Edit the notes" onClick={() => setBefore(run.notes)} quiet>
            <Pencil size={14} aria-hidden />
          </Button>
        )
      }
    >
      <div className={styles.cardBody}>
        {run.notes === "" && !mayEdit ? (
          <p className={styles.none}>No notes.</p>
        ) : run.notes === "" ? (
          <button type="button" className={styles.invitation} onClick={() => setBefore("")}>
            Add notes about this run …
          </button>
        ) : (
          <Markdown text={run.notes} />
        )}
      </div>
    </Card>
  );
}

function NotesEditor({ run, before, onDone }: { run: Run; before: string; onDone: () => void }) {
  const [draft, setDraft] = useState(before);
  const update = useUpdateRun(run.id);
  const save = () => update.mutate({ notes: draft }, { onSuccess: onDone });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && draft === before) onDone();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
  };
  return (
    <Card title="Notes" tools={<span className={styles.quiet}>Markdown; Ctrl Enter saves</span>}>
      <div className={styles.cardBody}>
        <textarea
          className={styles.notes}
          aria-label="Notes"
          value={draft}
          rows={Math.min(20, Math.max(6, draft.split("\n").length + 1))}
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={onKeyDown}
          autoFocus
        />
        {run.notes !== before && (
          <p className={styles.warning} role="status">
            The notes were changed by another user meanwhile; saving overwrites that change.
          </p>
        )}
        {update.error !== null && <ErrorNote error={update.error} />}
        <div className={styles.buttons}>
          <Button primary onClick={save} disabled={update.isPending}>
            Save
          </Button>
          <Button onClick={onDone}>Cancel</Button>
        </div>
      </div>
    </Card>
  );
}
