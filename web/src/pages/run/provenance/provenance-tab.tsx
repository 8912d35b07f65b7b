import { useMemo } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { CopyButton } from "../../../widgets/copy-button.tsx";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { Name } from "../../../widgets/name.tsx";
import { visibleLines } from "../../../prepare/visible-text.ts";
import { Card } from "../card.tsx";
import { EnvironmentCard } from "./environment-card.tsx";
import { PatchCard } from "./patch-card.tsx";
import { PartTable } from "./part-table.tsx";
import { peopleOf, reproduction, reproductionGap } from "./provenance-parts.ts";
import { RecordedCard } from "./recorded-card.tsx";
import styles from "./provenance.module.css";
import page from "../run.module.css";

/** The provenance of the run: what is recorded, what is missing, and how to run it again. */
export function ProvenanceTab({ run }: { run: Run }) {
  const people = useMemo(() => peopleOf(run), [run]);
  return (
    <div className={`${page.overview} ${styles.halves}`}>
      <div className={page.column}>
        <RecordedCard run={run} />
        <PatchCard run={run} />
      </div>
      <div className={page.column}>
        <Card title="Who">
          <PartTable parts={people} namespace={run.namespace} />
        </Card>
        <ReproduceCard run={run} />
        <EnvironmentCard run={run} />
      </div>
    </div>
  );
}

function ReproduceCard({ run }: { run: Run }) {
  const command = reproduction(run);
  const gap = reproductionGap(run);
  return (
    <Card
      title="Run it again"
      tools={command !== undefined && <CopyButton text={command} label="Copy the commands" />}
    >
      {command === undefined ? (
        <EmptyState title="The command was not recorded">
          Cairn's own clients record it automatically; others can send it with the run.
        </EmptyState>
      ) : (
        <div className={page.cardBody}>
          <pre className={styles.command}>{visibleLines(command)}</pre>
          {run.provenance?.code?.dirtyPatch !== "" && run.provenance?.code !== undefined && (
            <p className={page.none}>
              <Name text="uncommitted.patch" mono /> is below on this page.
            </p>
          )}
          {gap !== "" && <p className={page.warning}>{gap}</p>}
          <p className={page.none}>Check the commands before you paste them.</p>
        </div>
      )}
    </Card>
  );
}
