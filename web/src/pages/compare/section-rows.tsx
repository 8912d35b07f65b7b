import type { ReactNode } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { Name } from "../../widgets/name.tsx";
import { differs, type CompareRow } from "./compare-row.ts";
import { PATCH_KEY, shellLine, type Section } from "./compare-runs.ts";
import styles from "./compare-table.module.css";
import { FoldedRows } from "./folded-rows.tsx";
import { PatchRow } from "./patch-row.tsx";
import type { CompareSearch } from "./search.ts";
import { SectionHead } from "./section-head.tsx";
import { ValueCells } from "./value-cells.tsx";

interface SectionRowsProps {
  section: Section;
  /** In lower case; only rows whose key holds it. */
  find: string;
  runs: readonly Run[];
  search: CompareSearch;
  onChange: (search: CompareSearch) => void;
}

/** One part of the table: rows that differ, and the others folded. */
export function SectionRows({
  section: { id, title, rows },
  find,
  runs,
  search,
  onChange,
}: SectionRowsProps) {
  const found = rows.filter(({ key }) => key.toLowerCase().includes(find));
  if (found.length === 0) return null;
  const different = found.filter(differs);
  const equal = found.filter((row) => !differs(row));
  return (
    <tbody
      id={`part-${id}`}
      className={id === "code" || id === "command" ? `${styles.section} ${styles.mono}` : styles.section}
    >
      <SectionHead title={title} different={different.length} runs={runs.length}>
        {id === "code" && <CommitRange runs={runs} />}
      </SectionHead>
      <FoldedRows
        id={id}
        different={different}
        equal={equal}
        isFlat={find !== "" || runs.length === 1}
        columns={runs.length + 1}
        search={search}
        onChange={onChange}
      >
        {(row) => (
          <ValueRow key={row.key} row={row}>
            {row.key === PATCH_KEY && id === "code" && differs(row) && (
              <PatchRow runs={runs} search={search} onChange={onChange} />
            )}
          </ValueRow>
        )}
      </FoldedRows>
    </tbody>
  );
}

function ValueRow({ row, children }: { row: CompareRow; children: ReactNode }) {
  return (
    <>
      <tr className={differs(row) ? undefined : styles.equal}>
        <th scope="row" className={styles.key}>
          <Name text={row.key} />
          {row.respelt && (
            <span className={styles.hint} title="The same number, written differently">
              same number
            </span>
          )}
        </th>
        <ValueCells row={row} />
      </tr>
      {children}
    </>
  );
}

/** What to type in a clone to see what was committed between two runs. */
function CommitRange({ runs }: { runs: readonly Run[] }) {
  if (runs.length !== 2) return null;
  const [base, other] = runs.map(({ provenance }) => provenance?.code);
  if (!base?.commit || !other?.commit || base.commit === other.commit || base.repository !== other.repository)
    return null;
  const command = shellLine(["git", "diff", base.commit, other.commit]);
  return (
    <CopyButton text={command} label={`Copy: ${command}`}>
      git diff
    </CopyButton>
  );
}
