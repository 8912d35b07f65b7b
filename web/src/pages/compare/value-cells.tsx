import { useMemo, useState } from "react";
import { colourAt } from "../../charts/palette.ts";
import { formatCount } from "#lang/words/numbers.ts";
import { cutText, visibleLines } from "../../widgets/text.ts";
import { isColoured, type CompareRow } from "./compare-row.ts";
import styles from "./compare-table.module.css";
import type { Value } from "./param-leaves.ts";
import { condense, diffTokens } from "./token-diff.ts";
import { useDark } from "./use-dark.ts";

/** How much of a long value is shown before somebody asks for all of it. */
const LENGTH_SHOWN = 240;
/** As two hex digits: enough to tell neighbours apart, little enough for the text to stay clear. */
const TINT_ALPHA = "2b";

const COMMIT = /^[0-9a-f]{40}$/;
const COMMIT_SHOWN = 12;

/** What each run has, one colour per distinct value where there are many runs. */
export function ValueCells({ row }: { row: CompareRow }) {
  const dark = useDark();
  const coloured = isColoured(row);
  const [base] = row.values;
  return row.values.map((value, i) => {
    const group = row.classes[i]!;
    const tint =
      coloured && group > 0 ? { background: `${colourAt(group - 1, dark)}${TINT_ALPHA}` } : undefined;
    const names = [styles.cell, i === 0 && styles.base, i > 0 && group === 0 && styles.likeBase];
    return (
      <td key={i} className={names.filter(Boolean).join(" ")} style={tint}>
        {value === undefined ? (
          <span className={styles.none} title="not set">
            —
          </span>
        ) : (
          <ValueText value={value} {...(group > 0 && base !== undefined && { base })} />
        )}
      </td>
    );
  });
}

/** A value; with `base`, what is different from that is marked. */
function ValueText({ value, base }: { value: Value; base?: Value }) {
  const [isWhole, setWhole] = useState(false);
  const parts = useMemo(
    () => (base === undefined ? undefined : diffTokens(base.text, value.text)),
    [base?.text, value.text],
  );
  if (COMMIT.test(value.text)) {
    return (
      <span className={styles.text} title={value.text}>
        {value.text.slice(0, COMMIT_SHOWN)}
      </span>
    );
  }
  const isLong = value.text.length > LENGTH_SHOWN;
  const whole = visibleLines(value.text);
  return (
    <div className={isWhole ? styles.whole : undefined}>
      <bdi className={styles.text}>
        {parts === undefined
          ? isWhole
            ? whole
            : cutText(whole, LENGTH_SHOWN)
          : (isLong && !isWhole ? condense(parts) : parts).map(({ kind, text }, i) => {
              const shown = visibleLines(text);
              if (kind === "added") return <ins key={i}>{shown}</ins>;
              return kind === "removed" ? <del key={i}>{shown}</del> : <span key={i}>{shown}</span>;
            })}
      </bdi>
      {isLong && (
        <button
          type="button"
          className={styles.more}
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? "Show less" : `Show all ${formatCount(value.text.length)} characters`}
        </button>
      )}
    </div>
  );
}
