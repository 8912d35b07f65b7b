import { useMemo, useState } from "react";
import { colourAt } from "../../../charts/paint/palette.ts";
import { formatCount } from "#lang/words/numbers.ts";
import { cutText, visibleLines } from "../../../prepare/visible-text.ts";
import type { ComparedRow } from "#proto/cairn/v1/explore_pb.ts";
import { shortCommit, textsOf } from "#sdk/comparison.ts";
import { isColoured } from "./compare-row.ts";
import styles from "./compare-table.module.css";
import { condense, diffTokens } from "./token-diff.ts";
import { useDark } from "../../../widgets/theme.ts";

/** How much of a long value is shown at first. */
const LENGTH_SHOWN = 240;
/** The opacity in hex: enough to distinguish neighbours, and low enough to keep the text readable. */
const TINT_ALPHA = "2b";

/** The value of each run, with one colour per distinct value where there are many runs. */
export function ValueCells({ row }: { row: ComparedRow }) {
  const dark = useDark();
  const coloured = isColoured(row);
  const texts = textsOf(row);
  const base = texts[0];
  return row.meaning.map((group, i) => {
    const text = texts[i];
    const tint =
      coloured && group > 0 ? { background: `${colourAt(group - 1, dark)}${TINT_ALPHA}` } : undefined;
    const names = [styles.cell, i === 0 && styles.base, i > 0 && group === 0 && styles.likeBase];
    return (
      <td key={i} className={names.filter(Boolean).join(" ")} style={tint}>
        {text === undefined ? (
          <span className={styles.none} title="not set">
            —
          </span>
        ) : (
          <ValueText text={text} {...(group > 0 && base !== undefined && { base })} />
        )}
      </td>
    );
  });
}

/** A value; with `base`, differences from it are marked. */
function ValueText({ text: value, base }: { text: string; base?: string }) {
  const [isWhole, setWhole] = useState(false);
  const parts = useMemo(() => (base === undefined ? undefined : diffTokens(base, value)), [base, value]);
  const short = shortCommit(value);
  if (short !== value) {
    return (
      <span className={styles.text} title={value}>
        {short}
      </span>
    );
  }
  const isLong = value.length > LENGTH_SHOWN;
  const whole = visibleLines(value);
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
          {isWhole ? "Show less" : `Show all ${formatCount(value.length)} characters`}
        </button>
      )}
    </div>
  );
}
