import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { durationOf } from "#sdk/run-facts.ts";
import { useRunChanges } from "../../data/live/hooks.ts";
import { bestRuns, namespaces } from "../../data/queries.ts";
import { cairn, serverClock } from "../../data/server.ts";
import { MINE, withMine } from "../../panels/query/my-runs.ts";
import { MyRunsButton } from "../../panels/query/my-runs-button.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatAgo, formatDuration } from "#lang/words/times.ts";
import { formatCount } from "#lang/words/numbers.ts";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import styles from "./home.module.css";
import { NamespaceTable } from "./namespace-table.tsx";
import { RunPanel } from "./run-panel.tsx";
import { Welcome } from "./welcome.tsx";

/** As many as fit on the page. */
const RECENT = 24;
const RUNNING = 10;
const BEST_EVERY_MS = 5_000;
const IS_RUNNING = 'status = "running"';

function useHomeRuns(mine: boolean) {
  const recent = useQuery({
    queryKey: ["home", "recent", mine],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      cairn.runs.searchRuns(
        { query: withMine("order by updated desc", mine), pageSize: RECENT, columns: ["aliases"] },
        { signal },
      ),
  });
  // By start, so that the order does not change while they run.
  const running = useQuery({
    queryKey: ["home", "running", mine],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      cairn.runs.searchRuns(
        {
          query: `${withMine(IS_RUNNING, mine)} order by started desc`,
          pageSize: RUNNING,
          columns: ["aliases"],
        },
        { signal },
      ),
  });
  return { recent, running };
}

/** The home page: namespaces, running and recent runs, and best values. */
export function HomePage() {
  const tree = useQuery(namespaces);
  const client = useQueryClient();
  const { mine = false } = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const { recent, running } = useHomeRuns(mine);
  const best = useQuery(bestRuns);
  useRunChanges(["home"], () => void client.invalidateQueries({ queryKey: ["home"] }));
  useRunChanges(
    bestRuns.queryKey,
    () => client.invalidateQueries({ queryKey: bestRuns.queryKey }),
    BEST_EVERY_MS,
  );
  const failure = tree.error ?? recent.error ?? running.error;
  if (failure !== null) {
    return (
      <div className={styles.page}>
        <h1 className="unseen">Home</h1>
        <ErrorNote error={failure} onRetry={() => void client.invalidateQueries()} />
      </div>
    );
  }
  if (tree.data === undefined || recent.data === undefined || running.data === undefined) {
    return (
      <div className={styles.page}>
        <h1 className="unseen">Home</h1>
        <Skeleton lines={8} height={20} />
      </div>
    );
  }
  if (recent.data.totalCount === 0n && !mine) return <Welcome />;
  return (
    <div className={styles.page}>
      <h1 className="unseen">Home</h1>
      <div className={styles.columns}>
        <div className={styles.column}>
          <NamespaceTable namespaces={tree.data} best={best.data} />
          <RunPanel
            title="Running now"
            runs={running.data.runs}
            none={mine ? "None of your runs is running." : "No runs are running."}
            all={`All ${formatCount(Number(running.data.totalCount))} running`}
            query={withMine(IS_RUNNING, mine)}
            isWide
            timeOf={(run) => {
              const seconds = durationOf(run, serverClock.now());
              return seconds === undefined ? "" : `for ${formatDuration(seconds)}`;
            }}
          />
        </div>
        <RunPanel
          title={mine ? "My recent runs" : "Recent runs"}
          runs={recent.data.runs}
          none={mine ? "You have not created a run yet." : "No runs yet."}
          all={mine ? "All my runs" : "All runs"}
          {...(mine && { query: MINE })}
          tools={
            <MyRunsButton
              isOn={mine}
              onChange={(isOn) => void navigate({ search: isOn ? { mine: true } : {} })}
            />
          }
          timeOf={({ updatedUs }) => formatAgo(Number(updatedUs))}
        />
      </div>
    </div>
  );
}
