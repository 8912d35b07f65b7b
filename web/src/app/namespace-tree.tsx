import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Namespace } from "#proto/cairn/v1/namespace_pb.ts";
import { formatCount, shortCount } from "#lang/words/numbers.ts";
import { ChevronRight } from "../widgets/icons/icons.ts";
import { Name } from "../widgets/name.tsx";
import { visibleText } from "../prepare/visible-text.ts";
import styles from "./namespace-tree.module.css";
import { treeRows } from "../data/namespace-tree.ts";

const INDENT_PX = 14;
/** More than users scroll through; the search finds the rest. */
const ROWS_MAX = 500;

/** The readable tree, indented by depth, with the number of runs in each subtree. */
export function NamespaceTree({ namespaces, here }: { namespaces: readonly Namespace[]; here: string }) {
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const rows = treeRows(namespaces, here, toggled);
  return (
    <>
      <ul className={styles.tree}>
        {rows
          .slice(0, ROWS_MAX)
          .map(({ namespace: { path, subtreeRunCount }, name, depth, hasChildren, isOpen }) => (
            <li key={path} className={path === here ? `${styles.row} ${styles.on}` : styles.row}>
              <span style={{ width: depth * INDENT_PX }} className={styles.indent} />
              {hasChildren ? (
                <button
                  type="button"
                  className={styles.toggle}
                  aria-expanded={isOpen}
                  aria-label={`Below ${visibleText(name)}`}
                  onClick={() => setToggled(new Map(toggled).set(path, !isOpen))}
                >
                  <ChevronRight size={12} aria-hidden />
                </button>
              ) : (
                <span className={styles.toggle} />
              )}
              <Link
                to="/n/$"
                params={{ _splat: path }}
                className={styles.link}
                aria-current={path === here ? "page" : undefined}
              >
                <Name text={name} />
                <span className={styles.count}>{shortCount(Number(subtreeRunCount))}</span>
              </Link>
            </li>
          ))}
      </ul>
      {rows.length > ROWS_MAX && (
        <p className={styles.more}>{formatCount(rows.length - ROWS_MAX)} more: find them with Ctrl K.</p>
      )}
    </>
  );
}
