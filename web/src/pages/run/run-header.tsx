import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { Role } from "#proto/cairn/v1/access_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { heartbeatOf, type Heartbeat } from "../../data/runs/heartbeat.ts";
import { useHasRole } from "../../data/use-has-role.ts";
import { useNow } from "../../data/use-now.ts";
import { runById } from "../../data/queries.ts";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { RotateCcw, Trash2 } from "../../widgets/icons/icons.ts";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatAge, formatAgo, formatDuration } from "#lang/words/times.ts";
import { Name } from "../../widgets/name.tsx";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { StatusDot } from "../../widgets/status-dot.tsx";
import { PipelineButton } from "../../panels/pipeline/pipeline-button.tsx";
import { durationOf, isGoingOn, machineOf, ownerOf, shortId } from "#sdk/run-facts.ts";
import styles from "./run.module.css";
import type { RunSearch } from "./search.ts";

const route = getRouteApi("/r/$run");
const SECOND_MS = 1_000;
const CALM_MS = 30_000;
const ASK_MS = 5_000;
const NAME_MAX = 100;

/** Name, status and actions of the run. `heardMs`: the last activity, by the clock of the server. */
export function RunHeader({ run, heardMs }: { run: Run; heardMs: number }) {
  const isRunning = isGoingOn(run);
  const nowMs = useNow(isRunning ? SECOND_MS : CALM_MS);
  const duration = durationOf(run, nowMs);
  const owner = ownerOf(run);
  const machine = machineOf(run);
  const heartbeat = heartbeatOf(run, nowMs, heardMs);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const trash = useMutation({
    mutationFn: () => cairn.runs.deleteRun({ run: { id: run.id } }),
    onSuccess: (now) => client.setQueryData(runById(run.id).queryKey, now),
  });
  const isTrashed = run.deletedUs !== 0n;
  const mayWrite = useHasRole(Role.WRITER, { namespace: run.namespace, runId: run.id });
  return (
    <header className={styles.head}>
      <div className={styles.titleRow}>
        <h1 className={styles.title}>
          <Name text={run.name} />
        </h1>
        <code className={styles.id} title={run.id}>
          {shortId(run.id)}
        </code>
        <CopyButton text={run.id} label="Copy the id of the run" />
        <span className={styles.space} />
        <PipelineButton
          runIds={[run.id]}
          isOpen={search.pipeline === true}
          onOpenChange={(isOpen) =>
            void navigate({
              resetScroll: false,
              search: (now) => ({ ...now, pipeline: isOpen ? true : undefined }) as RunSearch,
            })
          }
        />
        {!isTrashed && mayWrite && (
          <Button label="Move to the trash" onClick={() => trash.mutate()} disabled={trash.isPending} quiet>
            <Trash2 size={15} aria-hidden />
          </Button>
        )}
      </div>
      <div className={styles.meta}>
        <StatusDot status={run.status} isLate={heartbeat?.isLate === true} />
        {heartbeat !== undefined && <Heard run={run} heartbeat={heartbeat} nowMs={nowMs} />}
        {duration !== undefined && (
          <Fact label={run.endedUs === 0n ? "for" : "took"}>{formatDuration(duration)}</Fact>
        )}
        {run.startedUs !== 0n && (
          <Fact label="started" title={new Date(Number(run.startedUs / 1_000n)).toLocaleString()}>
            {formatAgo(Number(run.startedUs), nowMs)}
          </Fact>
        )}
        <Fact label="in">
          <Link to="/n/$" params={{ _splat: run.namespace }}>
            <Name text={run.namespace} />
          </Link>
        </Fact>
        {owner !== "" && (
          <Fact label="by">
            <Name text={owner} />
          </Fact>
        )}
        {machine !== "" && (
          <Fact label="on">
            <Name text={machine} />
          </Fact>
        )}
      </div>
      {trash.error !== null && <ErrorNote error={trash.error} onRetry={() => trash.mutate()} />}
      {isTrashed && <TrashBanner run={run} nowMs={nowMs} mayRestore={mayWrite} />}
    </header>
  );
}

function Heard({ run, heartbeat, nowMs }: { run: Run; heartbeat: Heartbeat; nowMs: number }) {
  const client = useQueryClient();
  const { heardUs, isOverdue, isLate } = heartbeat;
  const every = run.heartbeatSeconds;
  // Some activity does not notify pages, such as log lines: the server is queried before the run is called late, and
  // repeatedly after that.
  const question = isOverdue ? Math.floor(nowMs / ASK_MS) : 0;
  useEffect(() => {
    if (question !== 0) void client.invalidateQueries({ queryKey: runById(run.id).queryKey, exact: true });
  }, [client, question, run.id]);
  if (!isLate) return <Fact label="active">{formatAgo(heardUs, nowMs)}</Fact>;
  return (
    <span className={styles.late} title={`A heartbeat is expected every ${every} s.`}>
      active {formatAgo(heardUs, nowMs)}: late, lost after {formatAge(3 * every)}
    </span>
  );
}

function Fact({ label, title, children }: { label: string; title?: string; children: React.ReactNode }) {
  return (
    <span className={styles.fact} title={title}>
      <span className={styles.quiet}>{label}</span> {children}
    </span>
  );
}

function TrashBanner({ run, nowMs, mayRestore }: { run: Run; nowMs: number; mayRestore: boolean }) {
  const client = useQueryClient();
  const restore = useMutation({
    mutationFn: () => cairn.runs.restoreRun({ run: { id: run.id } }),
    onSuccess: (now) => client.setQueryData(runById(run.id).queryKey, now),
  });
  return (
    <div className={styles.banner} role="status">
      <Trash2 size={15} aria-hidden />
      <span>
        In the trash since {formatAgo(Number(run.deletedUs), nowMs)}
        {run.deletedBy !== "" && (
          <>
            , by <b>{visibleText(cutText(run.deletedBy, NAME_MAX))}</b>
          </>
        )}
        . It can be restored until it is purged.
      </span>
      {mayRestore && (
        <Button onClick={() => restore.mutate()} disabled={restore.isPending}>
          <RotateCcw size={14} aria-hidden /> Restore
        </Button>
      )}
      {restore.error !== null && <ErrorNote error={restore.error} />}
    </div>
  );
}
