import { useMutation } from "@tanstack/react-query";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatCount } from "#lang/words/numbers.ts";
import { Panel } from "../../widgets/panel.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import styles from "./about.module.css";

/** Reading everything may take minutes. */
const LONG = { timeoutMs: 600_000 };

/** Proof on demand: every checksum of the data, and the chain of the audit. */
export function IntegrityPanel() {
  const data = useMutation({ mutationFn: () => cairn.system.checkIntegrity({}, LONG) });
  const audit = useMutation({ mutationFn: () => cairn.access.verifyAudit({}, LONG) });
  return (
    <Panel title="Integrity">
      <div className={styles.checks}>
        <Check
          title="Data"
          what="Reads everything that is stored and checks every checksum."
          isBusy={data.isPending}
          onCheck={() => data.mutate()}
          error={data.error}
          verdict={
            data.data && {
              isOk: data.data.ok,
              words: `${formatCount(Number(data.data.checkedPoints))} points of ${formatCount(Number(data.data.checkedRuns))} runs were read`,
              problems: data.data.problems,
            }
          }
        />
        <Check
          title="Audit"
          what="Recomputes the chain of hashes over every change of access and every deletion."
          isBusy={audit.isPending}
          onCheck={() => audit.mutate()}
          error={audit.error}
          verdict={
            audit.data && {
              isOk: audit.data.ok,
              words: `${formatCount(Number(audit.data.entries))} entries were read`,
              problems: audit.data.problems,
            }
          }
        />
      </div>
    </Panel>
  );
}

interface Verdict {
  isOk: boolean;
  words: string;
  problems: readonly string[];
}

function Check({
  title,
  what,
  isBusy,
  onCheck,
  error,
  verdict,
}: {
  title: string;
  what: string;
  isBusy: boolean;
  onCheck: () => void;
  error: unknown;
  verdict: Verdict | undefined;
}) {
  return (
    <section className={styles.check}>
      <div className={styles.checkHead}>
        <div>
          <h3>{title}</h3>
          <p className={styles.what}>{what}</p>
        </div>
        <Button
          onClick={onCheck}
          disabled={isBusy}
          label={`${isBusy ? "Checking …" : "Check"} the ${title.toLowerCase()}`}
        >
          {isBusy ? "Checking …" : "Check"}
        </Button>
      </div>
      <div role="status">
        {verdict && (
          <p className={verdict.isOk ? styles.good : styles.bad}>
            {verdict.isOk ? "Whole" : "Damaged"}: {verdict.words}.
          </p>
        )}
        {verdict?.problems.map((problem) => (
          <p key={problem}>{visibleText(problem)}</p>
        ))}
      </div>
      {error !== null && error !== undefined && <ErrorNote error={error} />}
    </section>
  );
}
