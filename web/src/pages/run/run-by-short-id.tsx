import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { runsByShortId } from "../../data/queries.ts";
import { formatAgo } from "#lang/words/times.ts";
import { Name } from "../../widgets/name.tsx";
import { Notice } from "../../widgets/notices/notice.tsx";
import { StatusDot } from "../../widgets/status-dot.tsx";
import { NoRun } from "./no-run.tsx";
import { shortId, SHORT_ID_CANDIDATES } from "#sdk/run-facts.ts";
import styles from "./run.module.css";

const route = getRouteApi("/r/$run");

/** The beginning of an id opens its run, or a choice of several. */
export function RunByShortId({ text, waiting }: { text: string; waiting: ReactNode }) {
  const { data: found, error, refetch } = useQuery(runsByShortId(text));
  const navigate = route.useNavigate();
  const only = found?.length === 1 ? found[0]!.id : undefined;
  useEffect(() => {
    // Back must not lead here again.
    if (only !== undefined) {
      void navigate({ params: { run: only }, search: (now) => now, replace: true });
    }
  }, [only, navigate]);
  if (error !== null) return <NoRun id={text} error={error} onRetry={() => void refetch()} />;
  if (found === undefined || only !== undefined) return waiting;
  if (found.length === 0) return <NoRun id={text} error={undefined} onRetry={() => void refetch()} />;
  const more = found.length > SHORT_ID_CANDIDATES ? "More than " : "";
  const shown = found.slice(0, SHORT_ID_CANDIDATES);
  return (
    <Notice title={`${more}${shown.length} runs have an id that begins with ${text}`}>
      <ul className={styles.candidates}>
        {shown.map((run) => (
          <Candidate key={run.id} run={run} />
        ))}
      </ul>
    </Notice>
  );
}

function Candidate({ run }: { run: Run }) {
  return (
    <li className={styles.candidate}>
      <StatusDot status={run.status} bare />
      <Link to="/r/$run" params={{ run: run.id }}>
        <Name text={run.name} />
      </Link>
      <code className={styles.quiet} title={run.id}>
        {shortId(run.id)}
      </code>
      <span className={styles.where}>
        in <Name text={run.namespace} />, {formatAgo(Number(run.createdUs))}
        {run.deletedUs !== 0n && ", in the trash"}
      </span>
    </li>
  );
}
