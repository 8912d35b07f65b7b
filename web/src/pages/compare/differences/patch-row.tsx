import { readPatchLines } from "#lang/words/patch.ts";
import {
  PatchDifference_How as How,
  type CompareRunsResponse,
  type PatchDifference,
} from "#proto/cairn/v1/explore_pb.ts";
import { formatCount } from "#lang/words/numbers.ts";
import { cutText, visibleLines, visibleText } from "../../../prepare/visible-text.ts";
import { ChevronDown, ChevronRight } from "../../../widgets/icons/icons.ts";
import table from "./compare-table.module.css";
import styles from "./patch-row.module.css";
import { isOpen, withOpen, type CompareSearch } from "../search.ts";

const PART = "patch";
const LINE_LENGTH_MAX = 500;

interface PatchRowProps {
  compared: CompareRunsResponse;
  search: CompareSearch;
  onChange: (search: CompareSearch) => void;
}

/** The uncommitted changes, unfolded on demand: of each run against the baseline. */
export function PatchRow({ compared, search, onChange }: PatchRowProps) {
  const isUnfolded = isOpen(search, PART);
  return (
    <tr>
      <td colSpan={compared.runs.length + 1} className={table.fold}>
        <button
          type="button"
          aria-expanded={isUnfolded}
          onClick={() => onChange(withOpen(search, PART, !isUnfolded))}
        >
          {isUnfolded ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
          Uncommitted changes, line by line
        </button>
        {isUnfolded && <Patches compared={compared} />}
      </td>
    </tr>
  );
}

const WORDS: Readonly<Record<How, string>> = {
  [How.UNSPECIFIED]: "",
  [How.SAME]: "has the same changes as the baseline",
  [How.OWN]: "has these changes, the baseline has none",
  [How.MISSING]: "has none of the changes of the baseline, which are",
  [How.BETWEEN]: "has other changes than the baseline: its patch against that of the baseline",
  [How.TOO_DIFFERENT]:
    "has changes that are too different from those of the baseline to show line by line; see the pages of the runs",
};

/** Runs with the same changes are shown together. */
function Patches({ compared: { runs, patches } }: { compared: CompareRunsResponse }) {
  const distinct = new Map<string, { names: string[]; patch: PatchDifference }>();
  for (const [i, patch] of patches.entries()) {
    if (patch.how === How.SAME) continue;
    const key = JSON.stringify([patch.how, patch.lines]);
    const { name } = runs[i + 1]!;
    const known = distinct.get(key);
    if (known === undefined) distinct.set(key, { names: [name], patch });
    else known.names.push(name);
  }
  return Array.from(distinct.values(), ({ names, patch: { how, lines, moreLines } }, i) => (
    <section key={i} className={styles.patch}>
      <p>
        <b>{cutText(visibleText(names.join(", ")), LINE_LENGTH_MAX)}</b> {WORDS[how]}
      </p>
      {lines.length > 0 && (
        <pre tabIndex={0} aria-label={`Changes of ${visibleText(names[0]!)}`}>
          {readPatchLines(lines).map(({ kind, text }, at) => (
            <span key={at} className={styles[`line-${kind}`]}>
              {visibleLines(cutText(text, LINE_LENGTH_MAX))}
              {"\n"}
            </span>
          ))}
        </pre>
      )}
      {moreLines > 0n && <p>and {formatCount(moreLines)} more lines</p>}
    </section>
  ));
}
