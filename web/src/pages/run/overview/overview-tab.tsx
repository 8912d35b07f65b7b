import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { useObjective } from "../../../data/queries.ts";
import { LinksCard } from "./links-card.tsx";
import { MetricsCard } from "./metrics-card.tsx";
import { NotesCard } from "./notes-card.tsx";
import { ParamsCard } from "./params-card.tsx";
import styles from "../run.module.css";
import { TagsCard } from "./tags-card.tsx";

/** The overview: metrics, params, tags, notes and links. */
export function OverviewTab({ run }: { run: Run }) {
  const objective = useObjective(run.namespace);
  return (
    <div className={styles.overview}>
      <div className={styles.column}>
        <MetricsCard run={run} objective={objective} />
        <ParamsCard run={run} />
      </div>
      <div className={styles.column}>
        <NotesCard run={run} />
        <TagsCard run={run} />
        <LinksCard run={run} />
      </div>
    </div>
  );
}
