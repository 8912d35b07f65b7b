import type { ReactNode } from "react";
import { shellLine } from "#lang/words/shell-line.ts";
import type { ComparedPart, ComparedRow, CompareRunsResponse } from "#proto/cairn/v1/explore_pb.ts";
import { differs, partTitle, partWord, textsOf } from "#sdk/comparison.ts";
import { CopyButton } from "../../../widgets/copy-button.tsx";
import { Name } from "../../../widgets/name.tsx";
import { isRespelt } from "./compare-row.ts";
import styles from "./compare-table.module.css";
import { FoldedRows } from "./folded-rows.tsx";
import { PatchRow } from "./patch-row.tsx";
import type { CompareSearch } from "../search.ts";
import { SectionHead } from "./section-head.tsx";
import { ValueCells } from "./value-cells.tsx";

/** Where the uncommitted changes are among the rows of the code. */
const PATCH_KEY = "uncommitted";

interface SectionRowsProps {
  part: ComparedPart;
  compared: CompareRunsResponse;
  /** In lower case; only rows whose key contains it. */
  find: string;
  search: CompareSearch;
  onChange: (search: CompareSearch) => void;
}

/** One part of the table: rows that differ, and the others folded. */
export function SectionRows({ part, compared, find, search, onChange }: SectionRowsProps) {
  const { runs } = compared;
  const id = partWord(part);
  const found = part.rows.filter(({ key }) => key.toLowerCase().includes(find));
  if (found.length === 0) return null;
  const different = found.filter(differs);
  const equal = found.filter((row) => !differs(row));
  return (
    <tbody
      id={`part-${id}`}
      className={id === "code" || id === "command" ? `${styles.section} ${styles.mono}` : styles.section}
    >
      <SectionHead title={partTitle(part)} different={different.length} runs={runs.length}>
        {id === "code" && <CommitRange part={part} />}
      </SectionHead>
      <FoldedRows
        id={id}
        different={different}
        equal={equal}
        leftOut={Number(part.equalRows)}
        isFlat={find !== "" || runs.length === 1}
        columns={runs.length + 1}
        search={search}
        onChange={onChange}
      >
        {(row) => (
          <ValueRow key={row.key} row={row}>
            {row.key === PATCH_KEY && id === "code" && differs(row) && (
              <PatchRow compared={compared} search={search} onChange={onChange} />
            )}
          </ValueRow>
        )}
      </FoldedRows>
    </tbody>
  );
}

function ValueRow({ row, children }: { row: ComparedRow; children: ReactNode }) {
  return (
    <>
      <tr className={differs(row) ? undefined : styles.equal}>
        <th scope="row" className={styles.key}>
          <Name text={row.key} />
          {isRespelt(row) && (
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

/** The git command that shows the commits between two runs. */
function CommitRange({ part: { rows } }: { part: ComparedPart }) {
  const commits = rows.find(({ key }) => key === "commit");
  const repositories = rows.find(({ key }) => key === "repository");
  if (commits?.text.length !== 2 || !differs(commits)) return null;
  if (repositories !== undefined && differs(repositories)) return null;
  const [base, other] = textsOf(commits);
  if (base === undefined || other === undefined) return null;
  const command = shellLine(["git", "diff", base, other]);
  return (
    <CopyButton text={command} label={`Copy: ${command}`}>
      git diff
    </CopyButton>
  );
}
