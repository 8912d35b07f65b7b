import { useMemo } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { CopyButton } from "../../../widgets/copy-button.tsx";
import { Check, Minus } from "../../../widgets/icons/icons.ts";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { Name } from "../../../widgets/name.tsx";
import { cutText, visibleLines, visibleText } from "../../../prepare/visible-text.ts";
import { Card } from "../card.tsx";
import { EnvironmentCard } from "./environment-card.tsx";
import { PatchCard } from "./patch-card.tsx";
import { provenanceParts, reproduction } from "./provenance-parts.ts";
import styles from "./provenance.module.css";
import page from "../run.module.css";

const VALUES_MAX = 50;
const VALUE_LENGTH_MAX = 2_000;

/** The provenance of the run: what is recorded, what is missing, and how to run it again. */
export function ProvenanceTab({ run }: { run: Run }) {
  const parts = useMemo(() => provenanceParts(run), [run]);
  const recorded = parts.filter(({ values }) => values.length > 0).length;
  return (
    <div className={`${page.overview} ${styles.halves}`}>
      <div className={page.column}>
        <Card title="Recorded" count={`${recorded} of ${parts.length}`}>
          <table className={styles.parts}>
            <tbody>
              {parts.map(({ name, values, missing }) => (
                <tr key={name} className={values.length > 0 ? undefined : styles.missing}>
                  <td className={styles.tick}>
                    {values.length > 0 ? (
                      <Check size={14} role="img" aria-label="recorded" />
                    ) : (
                      <Minus size={14} role="img" aria-label="not recorded" />
                    )}
                  </td>
                  <th scope="row">{name}</th>
                  <td className={styles.values}>
                    {values.length === 0
                      ? missing
                      : values
                          .slice(0, VALUES_MAX)
                          .map((value, i) => (
                            <code key={i}>{visibleText(cutText(value, VALUE_LENGTH_MAX))}</code>
                          ))}
                    {values.length > VALUES_MAX && <span>and {values.length - VALUES_MAX} more</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
        <PatchCard run={run} />
      </div>
      <div className={page.column}>
        <ReproduceCard run={run} />
        <EnvironmentCard run={run} />
      </div>
    </div>
  );
}

function ReproduceCard({ run }: { run: Run }) {
  const command = reproduction(run);
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
          <p className={page.none}>Check the commands before you paste them.</p>
        </div>
      )}
    </Card>
  );
}
