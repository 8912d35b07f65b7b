import { formatNumber } from "#lang/words/numbers.ts";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import styles from "./media-picture.module.css";
import type { Picture } from "./picture-data.ts";

const NAME_MAX = 12;

export function MediaPicture({ picture }: { picture: Picture }) {
  switch (picture.kind) {
    case "confusion":
      return <Confusion {...picture} />;
    case "curve":
      return <Curve {...picture} />;
    case "histogram":
      return <Histogram {...picture} />;
  }
}

/** Rows are actual classes, columns predicted ones; the shade is the share of the row. */
function Confusion({ classes, counts }: Extract<Picture, { kind: "confusion" }>) {
  return (
    <div className={styles.confusionBox} tabIndex={0} role="group" aria-label="Confusion matrix">
      <table className={styles.confusion}>
        <thead>
          <tr>
            <td className={styles.quiet}>was \ said</td>
            {classes.map((name, i) => (
              <th key={i} scope="col" title={visibleText(name)}>
                {cutText(visibleText(name), NAME_MAX)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {counts.map((row, i) => {
            const total = row.reduce((sum, count) => sum + count, 0);
            return (
              <tr key={i}>
                <th scope="row" title={visibleText(classes[i]!)}>
                  {cutText(visibleText(classes[i]!), NAME_MAX)}
                </th>
                {row.map((count, j) => {
                  const share = total > 0 ? count / total : 0;
                  const tone = i === j ? "--accent" : "--bad";
                  return (
                    <td
                      key={j}
                      title={`${(share * 100).toFixed(1)} % of ${visibleText(classes[i]!)}`}
                      style={{
                        background: `color-mix(in srgb, var(${tone}) ${Math.round(share * 60)}%, transparent)`,
                      }}
                    >
                      {count}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const SIZE = 240;
const PAD = 42;

/** True or precision over false or recall, both from 0 to 1. */
function Curve({ name, x, y, xLabel, yLabel, area }: Extract<Picture, { kind: "curve" }>) {
  const at = (share: number) => Math.max(0, Math.min(1, share)) * (SIZE - PAD);
  const points = x
    .map((share, i) => `${(PAD + at(share)).toFixed(1)},${(SIZE - PAD - at(y[i]!)).toFixed(1)}`)
    .join(" ");
  const words = `${name === "roc" ? "ROC" : "Precision and recall"}${area === undefined ? "" : `, area ${formatNumber(area)}`}`;
  return (
    <figure className={styles.figure}>
      <svg viewBox={`0 0 ${SIZE} ${SIZE}`} className={styles.square} role="img" aria-label={words}>
        {[0, 0.5, 1].map((tick) => (
          <g key={tick}>
            <line
              x1={PAD}
              x2={SIZE}
              y1={SIZE - PAD - at(tick)}
              y2={SIZE - PAD - at(tick)}
              className={styles.gridLine}
            />
            <text x={PAD - 6} y={SIZE - PAD - at(tick) + (tick === 1 ? 9 : 4)} textAnchor="end">
              {tick}
            </text>
            <text
              x={PAD + at(tick)}
              y={SIZE - PAD + 13}
              textAnchor={tick === 0 ? "start" : tick === 1 ? "end" : "middle"}
            >
              {tick}
            </text>
          </g>
        ))}
        {name === "roc" && <line x1={PAD} y1={SIZE - PAD} x2={SIZE} y2={0} className={styles.chance} />}
        <polyline points={points} className={styles.curve} />
        <text x={(SIZE + PAD) / 2} y={SIZE - 6} textAnchor="middle">
          {cutText(visibleText(xLabel), 40)}
        </text>
        <text transform={`translate(10 ${(SIZE - PAD) / 2}) rotate(-90)`} textAnchor="middle">
          {cutText(visibleText(yLabel), 40)}
        </text>
      </svg>
      <figcaption className={styles.quiet}>{words}</figcaption>
    </figure>
  );
}

const WIDTH = 360;
const HEIGHT = 160;
const FOOT = 18;

function Histogram({ edges, counts }: Extract<Picture, { kind: "histogram" }>) {
  const most = Math.max(1, ...counts);
  const low = edges[0]!;
  const span = edges.at(-1)! - low || 1;
  const total = counts.reduce((sum, count) => sum + count, 0);
  return (
    <figure className={styles.figure}>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        className={styles.wide}
        role="img"
        aria-label={`Histogram of ${formatNumber(total)} values`}
      >
        {counts.map((count, i) => {
          const left = ((edges[i]! - low) / span) * WIDTH;
          const width = ((edges[i + 1]! - edges[i]!) / span) * WIDTH;
          const height = (count / most) * (HEIGHT - FOOT - 4);
          return (
            <rect
              key={i}
              x={left}
              y={HEIGHT - FOOT - height}
              width={Math.max(0.5, width - 1)}
              height={height}
              className={styles.bar}
            >
              <title>{`${formatNumber(edges[i]!)} to ${formatNumber(edges[i + 1]!)}: ${count}`}</title>
            </rect>
          );
        })}
        <line x1={0} x2={WIDTH} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} className={styles.gridLine} />
        <text x={0} y={HEIGHT - 4}>
          {formatNumber(low)}
        </text>
        <text x={WIDTH} y={HEIGHT - 4} textAnchor="end">
          {formatNumber(edges.at(-1)!)}
        </text>
      </svg>
      <figcaption className={styles.quiet}>
        {formatNumber(total)} values, at most {formatNumber(most)} in a bin
      </figcaption>
    </figure>
  );
}
