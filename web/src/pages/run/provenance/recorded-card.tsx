import { Pencil, RotateCcw } from "../../../widgets/icons/icons.ts";
import { useMemo, useState } from "react";
import { Role } from "#proto/cairn/v1/access_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { useHasRole } from "../../../data/use-has-role.ts";
import { Button } from "../../../widgets/button.tsx";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { Card } from "../card.tsx";
import { useUpdateRun } from "../overview/use-update-run.ts";
import page from "../run.module.css";
import { PartTable } from "./part-table.tsx";
import { ProvenanceEditor } from "./provenance-editor.tsx";
import { changeOf, formOf, type ProvenanceForm } from "./provenance-form.ts";
import { provenanceParts } from "./provenance-parts.ts";

/** An edit that was saved: what it was before, and what it is now. */
interface Edit {
  before: ProvenanceForm;
  after: ProvenanceForm;
}

/** What is recorded, and a form for what a person can say about it. */
export function RecordedCard({ run }: { run: Run }) {
  const parts = useMemo(() => provenanceParts(run), [run]);
  const [edited, setEdited] = useState<ProvenanceForm>();
  const [last, setLast] = useState<Edit>();
  const undo = useUpdateRun(run.id);
  const mayEdit =
    useHasRole(Role.WRITER, { namespace: run.namespace, runId: run.id }) && run.deletedUs === 0n;
  const recorded = parts.filter(({ values }) => values.length > 0).length;
  if (edited !== undefined) {
    return (
      <ProvenanceEditor
        runId={run.id}
        before={edited}
        onDone={(after) => {
          if (after !== undefined) setLast({ before: edited, after });
          setEdited(undefined);
        }}
      />
    );
  }
  const takeBack = ({ before, after }: Edit) => {
    const change = changeOf(after, before);
    if (change !== undefined) undo.mutate(change, { onSuccess: () => setLast(undefined) });
  };
  return (
    <Card
      title="Recorded"
      count={`${recorded} of ${parts.length}`}
      tools={
        mayEdit && (
          <>
            {last !== undefined && (
              <Button onClick={() => takeBack(last)} disabled={undo.isPending} quiet>
                <RotateCcw size={14} aria-hidden /> Undo the edit
              </Button>
            )}
            <Button onClick={() => setEdited(formOf(run.provenance))} quiet>
              <Pencil size={14} aria-hidden /> Edit
            </Button>
          </>
        )
      }
    >
      {undo.error !== null && (
        <div className={page.cardBody}>
          <ErrorNote error={undo.error} />
        </div>
      )}
      <PartTable parts={parts} namespace={run.namespace} />
    </Card>
  );
}
