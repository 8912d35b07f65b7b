import { useQuery } from "@tanstack/react-query";
import { serverInfo } from "../../data/queries.ts";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatAgo } from "#lang/words/times.ts";
import { formatBytes, formatCount } from "#lang/words/numbers.ts";
import { Facts, Panel } from "../../widgets/panel.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import styles from "./about.module.css";
import { BackupPanel } from "./backup-panel.tsx";
import { HealthPanel } from "./health-panel.tsx";
import { IntegrityPanel } from "./integrity-panel.tsx";

/** Version, contents and load of this server. */
export function AboutPage() {
  const info = useQuery(serverInfo);
  return (
    <div className={styles.page}>
      <h1 className="unseen">About this server</h1>
      {info.error !== null ? (
        <ErrorNote error={info.error} onRetry={() => void info.refetch()} />
      ) : (
        <div className={styles.columns}>
          <div className={styles.column}>
            <Panel title="This server">
              {info.data === undefined ? (
                <Skeleton lines={5} />
              ) : (
                <Facts
                  facts={[
                    ["Version", info.data.version],
                    ["Address", location.origin],
                    ["Started", formatAgo(Number(info.data.startedUs))],
                    ["Format of its data", String(info.data.formatVersion)],
                    ...Object.entries(info.data.engines).map(
                      ([what, engine]) => [`Engine for ${what}`, engine] as const,
                    ),
                  ]}
                />
              )}
            </Panel>
            <HealthPanel />
          </div>
          <div className={styles.column}>
            <Panel title="Contents">
              {info.data === undefined ? (
                <Skeleton lines={4} />
              ) : info.data.sizeBytes === 0n && info.data.runCount === 0n ? (
                <p className={styles.quiet}>No counts. They require the role admin on everything.</p>
              ) : (
                <Facts
                  facts={[
                    ["Runs", formatCount(Number(info.data.runCount))],
                    ["Series", formatCount(Number(info.data.seriesCount))],
                    ["Points", formatCount(Number(info.data.pointCount))],
                    ["Size", formatBytes(Number(info.data.sizeBytes))],
                  ]}
                />
              )}
            </Panel>
            <IntegrityPanel />
            <BackupPanel isInMemory={info.data?.engines["store"]?.endsWith("in memory")} />
          </div>
        </div>
      )}
    </div>
  );
}
