import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { GetImportanceResponse, ParamImportance } from "#proto/cairn/v1/explore_pb.ts";
import { printField } from "#lang/query/field-text.ts";
import { Button } from "../../../widgets/button.tsx";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { countOf, formatCount, formatNumber } from "#lang/words/numbers.ts";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { Name } from "../../../widgets/name.tsx";
import { Skeleton } from "../../../widgets/notices/skeleton.tsx";
import { visibleText } from "../../../prepare/visible-text.ts";
import { importanceOfParams } from "../answers/queries.ts";
import type { ExploredColumn } from "../columns/explored-column.ts";
import type { ExploreViewProps } from "../explore-view.ts";
import styles from "./importance.module.css";
import { MiniPlot } from "./mini-plot.tsx";
import { ObjectiveOffers } from "../objective/objective-offers.tsx";

const ROWS_AT_FIRST = 30;
const NAMED_MAX = 40;
/** Axes beside the objective's. */
const STRONGEST = 6;
/** The server needs at least so many. */
const RUNS_MIN = 5n;

/** Which params correlate with the objective, and how: computed by the server over all runs that remain. */
export function ImportanceView(props: ExploreViewProps) {
  const { namespace, table, objective, judged, asked } = props;
  const query = "query" in asked ? asked.query : undefined;
  const { data, error, isPlaceholderData, refetch } = useQuery(
    importanceOfParams(namespace, objective === undefined ? undefined : query, objective?.text ?? ""),
  );
  if (objective === undefined || judged === undefined) return <ObjectiveOffers {...props} />;
  if ("problem" in asked) {
    return (
      <EmptyState title="These filters cannot be sent to the server">
        <p>{visibleText(asked.problem)}</p>
        <p>Clear that filter to see what matters in the runs that remain.</p>
      </EmptyState>
    );
  }
  return (
    <div className={styles.view} aria-busy={isPlaceholderData}>
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data !== undefined ? (
        // Of the last objective, while its answer is shown.
        <Found {...props} found={data} judged={table.column(data.objective) ?? judged} />
      ) : (
        error === null && (
          <div className={styles.waiting}>
            <Skeleton lines={8} height={28} />
          </div>
        )
      )}
    </div>
  );
}

interface FoundProps extends ExploreViewProps {
  found: GetImportanceResponse;
  judged: ExploredColumn;
}

function Found(props: FoundProps) {
  const { found, judged, objective, onSearch } = props;
  const { params, leftOut } = found;
  const [isLong, setLong] = useState(false);
  if (params.length === 0) return <NothingToSay {...props} />;
  const shown = isLong ? params : params.slice(0, ROWS_AT_FIRST);
  return (
    <>
      <p className={styles.note}>
        How strongly each param correlates with <Name text={judged.label} /> in{" "}
        {formatCount(Number(found.runCount))} runs, by ranks: Spearman’s correlation for numbers, and for
        categories the root of ε², the share of variance between groups without what chance gives. It is
        association, not cause: a param can look strong because it was changed together with another, and weak
        because it was hardly varied.
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
            {shown.map((param) => (
              <Row key={param.key} param={param} view={props} />
            ))}
          </tbody>
        </table>
        {params.length > shown.length && (
          <p>
            <Button onClick={() => setLong(true)}>Show all {params.length} params</Button>
          </p>
        )}
        {leftOut > 0n && (
          <p className={styles.quiet}>{formatCount(Number(leftOut))} more params that vary are left out.</p>
        )}
        <p>
          <Button
            onClick={() =>
              onSearch({
                axes: [...params.slice(0, STRONGEST).map(({ key }) => textOf(key)), objective!.text],
                tab: undefined,
              })
            }
          >
            Strongest as parallel coordinates
          </Button>
        </p>
        <Folded title="The same in all these runs" names={found.constant} count={found.constantCount} />
        <Folded title="In too few runs, or different in each" names={found.rare} count={found.rareCount} />
      </div>
    </>
  );
}

function textOf(key: string): string {
  return printField({ of: "param", key });
}

function Row({ param, view }: { param: ParamImportance; view: FoundProps }) {
  const { key, strength, runCount, isChance, related } = param;
  const { table, judged, mask, dark, onSearch } = view;
  const column = table.column(textOf(key));
  return (
    <tr className={isChance ? styles.weak : undefined}>
      <th scope="row">
        <button
          type="button"
          className={styles.param}
          title="Show as a scatter"
          onClick={() => onSearch({ tab: "scatter", x: textOf(key), y: undefined, colour: undefined })}
        >
          <Name text={key} />
        </button>
      </th>
      <td>
        <span className={styles.track} aria-hidden>
          <span className={styles.bar} style={{ width: `${Math.round(100 * strength)}%` }} />
        </span>
      </td>
      <td className={styles.number}>{formatNumber(strength, { even: true })}</td>
      <td className={styles.number}>{formatCount(Number(runCount))}</td>
      <td className={styles.how}>
        {wordsOf(param)}
        {isChance && <span className={styles.quiet}> · chance would often give as much</span>}
        {related.length > 0 && (
          <span className={styles.related}>
            {" "}
            · correlates with <Name text={related.slice(0, 3).join(", ")} />
            {related.length > 3 && ` and ${related.length - 3} more`}
          </span>
        )}
      </td>
      <td>{column && <MiniPlot column={column} judged={judged} mask={mask} dark={dark} />}</td>
    </tr>
  );
}

function wordsOf({ rho, isCurved }: ParamImportance): string {
  if (rho === undefined) return "differs between its values";
  if (isCurved) return "not monotonic";
  return rho > 0 ? "rises with it" : "falls with it";
}

function Folded({ title, names, count }: { title: string; names: readonly string[]; count: bigint }) {
  if (names.length === 0) return null;
  const shown = names.slice(0, NAMED_MAX);
  const others = Number(count) - shown.length;
  return (
    <details className={styles.folded}>
      <summary>
        {title}: {countOf(count, "param")}
      </summary>
      <ul>
        {shown.map((name) => (
          <li key={name}>
            <Name text={name} mono />
          </li>
        ))}
        {others > 0 && <li className={styles.quiet}>{formatCount(others)} more</li>}
      </ul>
    </details>
  );
}

function NothingToSay({ judged, found: { runCount, constantCount, rareCount } }: FoundProps) {
  const title =
    runCount === 0n
      ? "No run has a number for the objective"
      : runCount < RUNS_MIN
        ? "Too few runs"
        : judged.distinct === 1 && runCount <= judged.count
          ? "The objective is the same in all runs"
          : rareCount > 0n
            ? "No param varies enough"
            : constantCount > 0n
              ? "No param varies among these runs"
              : "These runs have no params";
  return (
    <EmptyState title={title}>
      <p>
        At least five runs with a number for the objective and different params are needed. Widen the query,
        or clear a filter.
      </p>
    </EmptyState>
  );
}
