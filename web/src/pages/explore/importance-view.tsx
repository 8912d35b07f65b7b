import { useMemo, useState } from "react";
import { Button } from "../../widgets/button.tsx";
import { EmptyState } from "../../widgets/empty-state.tsx";
import { formatCount } from "#lang/words/numbers.ts";
import { Name } from "../../widgets/name.tsx";
import styles from "./importance.module.css";
import type { ExploreViewProps } from "./explore-view.ts";
import { importanceOf, type ImportanceRow } from "./importance.ts";
import { MiniPlot } from "./mini-plot.tsx";
import { ObjectiveOffers } from "./objective-offers.tsx";

const ROWS_AT_FIRST = 30;
const NAMED_MAX = 40;

/** Which params go along with the objective, and how. */
export function ImportanceView(props: ExploreViewProps) {
  const { table, objective, judged, mask, remaining, onSearch } = props;
  const found = useMemo(
    () => (judged === undefined ? undefined : importanceOf(table, judged, mask)),
    [table, judged, mask],
  );
  const [isLong, setLong] = useState(false);
  if (objective === undefined || judged === undefined || found === undefined) {
    return <ObjectiveOffers {...props} />;
  }
  const { rows, constant, rare, leftOut } = found;
  if (rows.length === 0) return <NothingToSay {...props} isConstant={judged.distinct === 1} />;
  const shown = isLong ? rows : rows.slice(0, ROWS_AT_FIRST);
  return (
    <div className={styles.view}>
      <p className={styles.note}>
        How much each param goes along with <Name text={judged.label} /> in {formatCount(remaining)} runs, by
        ranks: Spearman’s correlation for numbers, and for categories the root of ε², the share of variance
        between groups without what chance gives. It is association, not cause: a param can look strong
        because it was changed together with another, and weak because it was hardly varied.
      </p>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label="Importance of params">
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Param</th>
              <th scope="col">Strength</th>
              <th scope="col" className={styles.number}>
                Value
              </th>
              <th scope="col" className={styles.number}>
                Runs
              </th>
              <th scope="col">How</th>
              <th scope="col">
                <Name text={judged.label} /> against it
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Row key={row.column.text} row={row} view={props} />
            ))}
          </tbody>
        </table>
        {rows.length > shown.length && (
          <p>
            <Button onClick={() => setLong(true)}>Show all {rows.length} params</Button>
          </p>
        )}
        {leftOut > 0 && (
          <p className={styles.quiet}>{formatCount(leftOut)} more params that vary are left out.</p>
        )}
        <p>
          <Button
            onClick={() =>
              onSearch({
                axes: [...rows.slice(0, 6).map(({ column }) => column.text), objective.text],
                tab: undefined,
              })
            }
          >
            Strongest as parallel coordinates
          </Button>
        </p>
        <Folded title="The same in all these runs" names={constant} />
        <Folded title="In too few runs, or different in each" names={rare} />
      </div>
    </div>
  );
}

function Row({ row, view }: { row: ImportanceRow; view: ExploreViewProps }) {
  const { column, strength, count, isChance, related } = row;
  return (
    <tr className={isChance ? styles.weak : undefined}>
      <th scope="row">
        <button
          type="button"
          className={styles.param}
          title="Show as a scatter"
          onClick={() => view.onSearch({ tab: "scatter", x: column.text, y: undefined, colour: undefined })}
        >
          <Name text={column.label} />
        </button>
      </th>
      <td>
        <span className={styles.track} aria-hidden>
          <span className={styles.bar} style={{ width: `${Math.round(100 * strength)}%` }} />
        </span>
      </td>
      <td className={styles.number}>{strength.toFixed(2)}</td>
      <td className={styles.number}>{formatCount(count)}</td>
      <td className={styles.how}>
        {wordsOf(row)}
        {isChance && <span className={styles.quiet}> · chance would often give as much</span>}
        {related.length > 0 && (
          <span className={styles.related}>
            {" "}
            · goes along with <Name text={related.slice(0, 3).join(", ")} />
            {related.length > 3 && ` and ${related.length - 3} more`}
          </span>
        )}
      </td>
      <td>
        <MiniPlot column={column} judged={view.judged!} mask={view.mask} dark={view.dark} />
      </td>
    </tr>
  );
}

function wordsOf({ column, rho, isCurved }: ImportanceRow): string {
  if (column.kind === "category") return `${column.distinct} values`;
  if (isCurved) return "neither rises nor falls all along";
  return rho > 0 ? "rises with it" : "falls with it";
}

function Folded({ title, names }: { title: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <details className={styles.folded}>
      <summary>
        {title}: {formatCount(names.length)} {names.length === 1 ? "param" : "params"}
      </summary>
      <ul>
        {names.slice(0, NAMED_MAX).map((name) => (
          <li key={name}>
            <Name text={name} mono />
          </li>
        ))}
        {names.length > NAMED_MAX && (
          <li className={styles.quiet}>{formatCount(names.length - NAMED_MAX)} more</li>
        )}
      </ul>
    </details>
  );
}

function NothingToSay({ table, judged, remaining, isConstant }: ExploreViewProps & { isConstant: boolean }) {
  const title =
    judged!.count === 0
      ? "No run has a number for the objective"
      : remaining < 5
        ? "Too few runs to say anything"
        : isConstant
          ? "The objective is the same in all runs"
          : table.params.some(({ varies }) => varies)
            ? "No param varies enough to say anything"
            : "No param varies among these runs";
  return (
    <EmptyState title={title}>
      <p>
        At least five runs with a number for the objective and different params are needed. Widen the query,
        or clear a filter.
      </p>
    </EmptyState>
  );
}
