import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import type { LineageEdge, LineageNode } from "#proto/cairn/v1/lineage_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { splitDataReference } from "#lang/data-reference.ts";
import { countOf } from "#lang/words/numbers.ts";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { Skeleton } from "../../../widgets/notices/skeleton.tsx";
import { StatusDot } from "../../../widgets/status-dot.tsx";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import { useWidth } from "../../../widgets/use-width.ts";
import { layOutLineage, NODE_HEIGHT, NODE_WIDTH, type PlacedNode } from "./lineage-layout.ts";
import styles from "./lineage.module.css";
import { roleWords } from "../../../data/runs/source-role.ts";
import { lineageOfRun } from "../../../data/runs/run-queries.ts";

const NAME_MAX = 200;
const LABEL_MAX = 14;
/** A smaller scale is not readable. */
const SCALE_MIN = 0.8;

/** The lineage of the run as a picture: sources on the left, children on the right. */
export function LineageTab({ run }: { run: Run }) {
  const { data, error, refetch } = useQuery(lineageOfRun(run.id));
  const layout = useMemo(() => (data === undefined ? undefined : layOutLineage(data)), [data]);
  const [box, setBox] = useState<HTMLDivElement | null>(null);
  const width = useWidth(box);
  const roles = useMemo(() => rolesOf(data?.edges ?? []), [data]);
  const self = layout?.nodes[0];
  // A graph that is a little too wide is drawn smaller instead of being cut.
  const scale =
    layout === undefined || width === 0 ? 1 : Math.min(1, Math.max(SCALE_MIN, width / layout.width));
  useEffect(() => {
    // In a wide graph the run itself is in the middle at first.
    if (self === undefined || box === null) return;
    box.scrollLeft = (self.x + NODE_WIDTH / 2) * scale - box.clientWidth / 2;
    box.scrollTop = (self.y + NODE_HEIGHT / 2) * scale - box.clientHeight / 2;
  }, [box, self?.x, self?.y, scale]);
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined || layout === undefined) return <Skeleton lines={6} height={30} />;
  if (data.nodes.length === 1) {
    return (
      <EmptyState title="No lineage">
        No source of this run was recorded, and nothing was made from it yet.
      </EmptyState>
    );
  }
  return (
    <div className={styles.lineage}>
      <div className={styles.legend}>
        <span>made from</span>
        <span aria-hidden>→</span>
        <span>this run</span>
        <span aria-hidden>→</span>
        <span>went into</span>
        {data.truncated && <span className={styles.warning}>Not all links are shown.</span>}
      </div>
      <div className={styles.box} ref={setBox} tabIndex={0} role="region" aria-label="Lineage graph">
        <div className={styles.canvas} style={{ width: layout.width, height: layout.height, zoom: scale }}>
          <svg width={layout.width} height={layout.height} aria-hidden className={styles.edges}>
            {layout.edges.map(({ path, label, x, y }, i) => (
              <g key={i}>
                <path d={path} />
                {label !== "" && (
                  <text x={x} y={y - 4} textAnchor="middle">
                    {cutText(visibleText(label), LABEL_MAX)}
                    <title>{visibleText(cutText(label, NAME_MAX))}</title>
                  </text>
                )}
              </g>
            ))}
          </svg>
          <ul className={styles.nodes}>
            {layout.nodes.map((place) => (
              <li key={place.index}>
                <Node node={data.nodes[place.index]!} place={place} />
                {/* The picture of the edges is not read out. */}
                <span className="unseen">{roles.get(place.index)?.join(", ")}</span>
              </li>
            ))}
          </ul>
        </div>
      </div>
    </div>
  );
}

/** What each node was to the runs that used it. */
function rolesOf(edges: readonly LineageEdge[]): ReadonlyMap<number, string[]> {
  const roles = new Map<number, string[]>();
  for (const { source, role } of edges) {
    const words = roleWords(role);
    const known = roles.get(source) ?? [];
    if (words !== "" && !known.includes(words)) roles.set(source, [...known, words]);
  }
  return roles;
}

function Node({ node, place }: { node: LineageNode; place: PlacedNode }) {
  const style = {
    transform: `translate(${place.x}px, ${place.y}px)`,
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
  };
  if (node.hidden) {
    return (
      <div className={`${styles.node} ${styles.hidden}`} style={style} title="You may not see this run">
        <span className={styles.name}>hidden</span>
        <span className={styles.where}>you may not see it</span>
      </div>
    );
  }
  if (node.runId === "") {
    const { location, version } = splitDataReference(node.externalId);
    const text = visibleText(cutText(node.externalId, NAME_MAX));
    return (
      <div className={`${styles.node} ${styles.outside}`} style={style} title={text}>
        <span className={styles.name}>
          <bdi>{visibleText(cutText(location, NAME_MAX))}</bdi>
        </span>
        <span className={styles.where}>
          {version === "" ? "external" : visibleText(cutText(version, NAME_MAX))}
        </span>
      </div>
    );
  }
  const name = visibleText(cutText(node.name, NAME_MAX));
  const models = node.artifacts.length === 0 ? "" : ` · ${countOf(node.artifacts.length, "artifact")}`;
  return (
    <Link
      to="/r/$run"
      params={{ run: node.runId }}
      search={{ tab: "lineage" }}
      resetScroll={false}
      className={node.distance === 0 ? `${styles.node} ${styles.self}` : styles.node}
      style={style}
      title={`${name} in ${visibleText(node.namespace)}`}
      aria-current={node.distance === 0 ? "true" : undefined}
    >
      <span className={styles.name}>
        <StatusDot status={node.status} bare /> <bdi>{name}</bdi>
      </span>
      <span className={styles.where}>
        {visibleText(node.namespace.slice(node.namespace.lastIndexOf("/") + 1))}
        {models}
      </span>
    </Link>
  );
}
