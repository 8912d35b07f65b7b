import { Link } from "@tanstack/react-router";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { serverClock } from "../../../data/server.ts";
import { Button } from "../../../widgets/button.tsx";
import { formatDuration } from "#lang/words/times.ts";
import { Flag, X } from "../../../widgets/icons/icons.ts";
import { Name } from "../../../widgets/name.tsx";
import { StatusDot } from "../../../widgets/status-dot.tsx";
import { visibleText } from "../../../prepare/visible-text.ts";
import { durationOf, shortId } from "#sdk/run-facts.ts";
import styles from "./compare-table.module.css";
import type { PanelProps } from "./differences-panel.tsx";
import { Swatch } from "../swatch.tsx";
import { withBase, withoutRun } from "../search.ts";

/** The heads of the columns: which run it is, and whether it is the baseline. */
export function RunHeads({ runs, order, search, onChange }: PanelProps) {
  return (
    <thead>
      <tr>
        <th scope="col" className={styles.corner}>
          <span className="unseen">Key</span>
        </th>
        {runs.map((run, i) => (
          <th key={run.id} scope="col" className={i === 0 ? `${styles.run} ${styles.base}` : styles.run}>
            <div className={styles.nameLine}>
              <Swatch place={order.indexOf(run.id)} />
              <Link to="/r/$run" params={{ run: run.id }} className={styles.runName}>
                <Name text={run.name} />
              </Link>
              {i > 0 && (
                <Button
                  quiet
                  className={styles.small}
                  label={`Make ${visibleText(run.name)} the baseline`}
                  onClick={() => onChange(withBase(search, run.id))}
                >
                  <Flag size={13} aria-hidden />
                </Button>
              )}
              <Button
                quiet
                className={styles.small}
                label={`Remove ${visibleText(run.name)}`}
                onClick={() => onChange(withoutRun(search, run.id))}
              >
                <X size={14} aria-hidden />
              </Button>
            </div>
            <Facts run={run} isBase={i === 0} />
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Facts({ run, isBase }: { run: Run; isBase: boolean }) {
  const duration = durationOf(run, serverClock.now());
  return (
    <div className={styles.facts}>
      {isBase && <span className={styles.badge}>baseline</span>}
      <StatusDot status={run.status} />
      {duration !== undefined && <span>{formatDuration(duration)}</span>}
      <code title={run.id}>{shortId(run.id)}</code>
      {run.deletedUs !== 0n && <span className={styles.trashed}>in the trash</span>}
    </div>
  );
}
