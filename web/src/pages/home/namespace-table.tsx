import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Role } from "#proto/cairn/v1/access_pb.ts";
import { Direction, type BestRun, type HeldObjective, type Namespace } from "#proto/cairn/v1/namespace_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { treeRows } from "../../data/namespace-tree.ts";
import { useHasRole } from "../../data/use-has-role.ts";
import { ObjectiveDialog } from "../../panels/objective/objective-dialog.tsx";
import { betterWords } from "#lang/words/directions.ts";
import { formatAgo } from "#lang/words/times.ts";
import { formatCount, formatNumber } from "#lang/words/numbers.ts";
import { bestStat } from "#sdk/direction.ts";
import { Name } from "../../widgets/name.tsx";
import { StatusDot } from "../../widgets/status-dot.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import styles from "./home.module.css";

const INDENT_PX = 16;
const ROWS_MAX = 200;
const ALL_OPEN = new Map<string, boolean>();

/** The tree as a table: counts, running runs, last change, and the best value. */
export function NamespaceTable({
  namespaces,
  best,
}: {
  namespaces: readonly Namespace[];
  best: ReadonlyMap<string, BestRun> | undefined;
}) {
  const rows = treeRows(namespaces, "", ALL_OPEN);
  const [edited, setEdited] = useState<string>();
  const changed = namespaces.find(({ path }) => path === edited);
  return (
    <section className={styles.panel} aria-labelledby="namespaces">
      <h2 id="namespaces" className={styles.title}>
        Namespaces
      </h2>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Namespace</th>
            <th scope="col" className={styles.number}>
              Runs
            </th>
            <th scope="col">Running</th>
            <th scope="col">Last change</th>
            <th scope="col" className={styles.number}>
              Best
            </th>
            <th scope="col">Objective</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, ROWS_MAX).map(({ namespace, name, depth }) => (
            <Row
              key={namespace.path}
              namespace={namespace}
              name={name}
              depth={depth}
              best={best?.get(namespace.path)}
              onObjective={setEdited}
            />
          ))}
        </tbody>
      </table>
      {rows.length > ROWS_MAX && (
        <p className={styles.more}>{formatCount(rows.length - ROWS_MAX)} more: find them with Ctrl K.</p>
      )}
      {changed !== undefined && (
        <ObjectiveDialog
          namespace={changed.path}
          held={changed.heldObjective}
          onClose={() => setEdited(undefined)}
        />
      )}
    </section>
  );
}

function Row({
  namespace: { path, description, heldObjective, subtreeRunCount, subtreeRunningCount, lastActivityUs },
  name,
  depth,
  best,
  onObjective,
}: {
  namespace: Namespace;
  name: string;
  depth: number;
  best: BestRun | undefined;
  onObjective: (path: string) => void;
}) {
  const mayChange = useHasRole(Role.MAINTAINER, { namespace: path });
  const objective = heldObjective !== undefined && <Objective objective={heldObjective} path={path} />;
  return (
    <tr>
      <th scope="row" className={styles.path} style={{ paddingLeft: 12 + depth * INDENT_PX }}>
        <span className={styles.both}>
          <Link to="/n/$" params={{ _splat: path }}>
            <Name text={name} />
          </Link>
          {description !== "" && (
            <span className={styles.description}>
              <Name text={description} />
            </span>
          )}
        </span>
      </th>
      <td className={styles.number}>{formatCount(Number(subtreeRunCount))}</td>
      <td className={styles.still}>
        {subtreeRunningCount > 0n && (
          <span className={styles.running}>
            <StatusDot status={RunStatus.RUNNING} bare /> {formatCount(Number(subtreeRunningCount))}
          </span>
        )}
      </td>
      <td className={styles.still}>{lastActivityUs > 0n && formatAgo(Number(lastActivityUs))}</td>
      <td className={styles.number}>
        {best && (
          <Link
            to="/r/$run"
            params={{ run: best.runId }}
            title={`by ${visibleText(best.runName)}${best.step === undefined ? "" : ` at step ${best.step}`}`}
          >
            {formatNumber(best.value)}
          </Link>
        )}
      </td>
      <td className={styles.objective}>
        {mayChange ? (
          <button
            type="button"
            className={styles.setObjective}
            aria-label={objective === false ? `Set the objective of ${visibleText(path)}` : undefined}
            onClick={() => onObjective(path)}
          >
            {objective || <span className={styles.unset}>set …</span>}
          </button>
        ) : (
          objective
        )}
      </td>
    </tr>
  );
}

/** An own objective is distinguished from an inherited one. */
function Objective({
  objective: { metric, direction, namespace },
  path,
}: {
  objective: HeldObjective;
  path: string;
}) {
  const way = betterWords(bestStat(direction));
  const isOwn = namespace === path;
  return (
    <span
      className={isOwn ? styles.own : undefined}
      title={isOwn ? undefined : `set in ${visibleText(namespace)}`}
    >
      <span role="img" aria-label={way} title={way}>
        {direction === Direction.MINIMIZE ? "↓" : "↑"}
      </span>{" "}
      <Name text={metric} mono />
    </span>
  );
}
