import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SourceRole } from "#proto/cairn/v1/lineage_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { runById } from "../../../data/queries.ts";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { Name } from "../../../widgets/name.tsx";
import { Skeleton } from "../../../widgets/notices/skeleton.tsx";
import { StatusDot } from "../../../widgets/status-dot.tsx";
import { Card } from "../card.tsx";
import { roleWords } from "../../../data/runs/source-role.ts";
import { linksOfRun } from "../../../data/runs/run-queries.ts";
import styles from "../run.module.css";
import { shortId } from "#sdk/run-facts.ts";

const SHOWN_MAX = 12;

/** Its sources and descendants; the tab has the whole graph. */
export function LinksCard({ run }: { run: Run }) {
  const { data, error, refetch } = useQuery(linksOfRun(run.id));
  const isMore =
    data !== undefined &&
    (data.hasMore || data.sources.length > SHOWN_MAX || data.children.length > SHOWN_MAX);
  return (
    <Card
      title="Lineage"
      tools={
        <Link to="/r/$run" params={{ run: run.id }} search={{ tab: "lineage" }} className={styles.small}>
          Graph
        </Link>
      }
    >
      <div className={styles.cardBody}>
        {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <Skeleton lines={2} />}
        {data !== undefined && data.sources.length + data.children.length === 0 && (
          <p className={styles.none}>No sources recorded, and nothing was made from it yet.</p>
        )}
        {data !== undefined && data.sources.length > 0 && (
          <LinkList title="Made from">
            {data.sources.slice(0, SHOWN_MAX).map((source, i) => (
              <LinkItem
                key={i}
                runId={source.runId}
                outside={source.externalId}
                artifact={source.artifact}
                role={source.role}
                hidden={source.hidden}
              />
            ))}
          </LinkList>
        )}
        {data !== undefined && data.children.length > 0 && (
          <LinkList title="Went into">
            {data.children.slice(0, SHOWN_MAX).map((child, i) => (
              <LinkItem
                key={i}
                runId={child.runId}
                outside=""
                artifact={child.artifact}
                role={child.role}
                hidden={child.hidden}
              />
            ))}
          </LinkList>
        )}
        {isMore && <p className={styles.none}>More are in the graph.</p>}
      </div>
    </Card>
  );
}

function LinkList({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <>
      <h3 className={styles.listTitle}>{title}</h3>
      <ul className={styles.links}>{children}</ul>
    </>
  );
}

function LinkItem({
  runId,
  outside,
  artifact,
  role,
  hidden,
}: {
  runId: string;
  outside: string;
  artifact: string;
  role: SourceRole;
  hidden: boolean;
}) {
  return (
    <li className={styles.link}>
      {hidden && <span className={styles.quiet}>a run you may not see</span>}
      {runId !== "" && <RunLink id={runId} />}
      {runId === "" && !hidden && <Name text={outside} mono />}
      {roleWords(role) !== "" && <span className={styles.quiet}>{roleWords(role)}</span>}
      {artifact !== "" && (
        <span className={styles.quiet}>
          through <Name text={artifact} />
        </span>
      )}
    </li>
  );
}

/** Another run by its name. */
function RunLink({ id }: { id: string }) {
  const { data: run } = useQuery(runById(id));
  return (
    <Link to="/r/$run" params={{ run: id }} className={styles.runLink}>
      {run !== undefined && <StatusDot status={run.status} bare />}
      <Name text={run?.name ?? shortId(id)} />
    </Link>
  );
}
