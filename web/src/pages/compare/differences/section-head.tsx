import type { ReactNode } from "react";
import styles from "./compare-table.module.css";

/** The title of a part, how many rows differ, and its actions. */
export function SectionHead({
  title,
  different,
  runs,
  children,
}: {
  title: string;
  different: number;
  runs: number;
  children?: ReactNode;
}) {
  return (
    <tr className={styles.sectionHead}>
      <th scope="rowgroup" className={styles.sectionTitle}>
        <h2>{title}</h2>
        {runs > 1 && (
          <span className={styles.count}>{different === 0 ? "all equal" : `${different} differ`}</span>
        )}
      </th>
      <td colSpan={runs}>
        <div className={styles.sectionTools}>{children}</div>
      </td>
    </tr>
  );
}
