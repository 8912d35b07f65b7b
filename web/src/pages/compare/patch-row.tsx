import { ChevronDown, ChevronRight } from "lucide-react";
import { useMemo } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { formatCount } from "#lang/words/numbers.ts";
import { cutText, visibleLines, visibleText } from "../../widgets/text.ts";
import table from "./compare-table.module.css";
import styles from "./patch-row.module.css";
import { comparePatches, PATCH_LINES_MAX, type PatchComparison } from "./patch-lines.ts";
import { isOpen, withOpen, type CompareSearch } from "./search.ts";

const PART = "patch";
const LINE_LENGTH_MAX = 500;

interface PatchRowProps {
  runs: readonly Run[];
  search: CompareSearch;
  onChange: (search: CompareSearch) => void;
}

/** The uncommitted changes, unfolded on demand: of each run against the baseline. */
export function PatchRow({ runs, search, onChange }: PatchRowProps) {
  const isUnfolded = isOpen(search, PART);
  return (
    <tr>
      <td colSpan={runs.length + 1} className={table.fold}>
        <button
          type="button"
          aria-expanded={isUnfolded}
          onClick={() => onChange(withOpen(search, PART, !isUnfolded))}
        >
          {isUnfolded ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
          Uncommitted changes, line by line
        </button>
        {isUnfolded && <Patches runs={runs} />}
      </td>
    </tr>
  );
}

const WORDS: Readonly<Record<PatchComparison["how"], string>> = {
  same: "has the same changes as the baseline",
  own: "has these changes, the baseline has none",
  missing: "has none of the changes of the baseline, which are",
  between: "has other changes than the baseline: its patch against that of the baseline",
  "too different":
    "has changes that are too different from those of the baseline to show line by line; see the pages of the runs",
};

function Patches({ runs }: { runs: readonly Run[] }) {
  const patches = useMemo(() => {
    const [base, ...others] = runs;
    const distinct = new Map<string, string[]>();
    for (const { name, provenance } of others) {
      const patch = provenance?.code?.dirtyPatch ?? "";
      distinct.set(patch, [...(distinct.get(patch) ?? []), name]);
    }
    const basePatch = base?.provenance?.code?.dirtyPatch ?? "";
    return [...distinct].map(([patch, names]) => ({ names, compared: comparePatches(basePatch, patch) }));
  }, [runs]);
  return patches
    .filter(({ compared }) => compared.how !== "same")
    .map(({ names, compared: { how, lines } }, i) => (
      <section key={i} className={styles.patch}>
        <p>
          <b>{cutText(visibleText(names.join(", ")), LINE_LENGTH_MAX)}</b> {WORDS[how]}
        </p>
        {lines.length > 0 && (
          <pre tabIndex={0} aria-label={`Changes of ${visibleText(names[0]!)}`}>
            {lines.slice(0, PATCH_LINES_MAX).map(({ kind, text }, at) => (
              <span key={at} className={styles[`line-${kind}`]}>
                {visibleLines(cutText(text, LINE_LENGTH_MAX))}
                {"\n"}
              </span>
            ))}
          </pre>
        )}
        {lines.length > PATCH_LINES_MAX && (
          <p>and {formatCount(lines.length - PATCH_LINES_MAX)} more lines</p>
        )}
      </section>
    ));
}
