import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { escapeLike, quoteText } from "#lang/query/quote.ts";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { Plus } from "../../widgets/icons/icons.ts";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Name } from "../../widgets/name.tsx";
import { Popover } from "../../widgets/popups/popover.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { StatusDot } from "../../widgets/status-dot.tsx";
import { TextField } from "../../widgets/fields/text-field.tsx";
import styles from "./compare-page.module.css";

const RESULTS_MAX = 50;

interface AddRunProps {
  /** The namespace to search first. */
  namespace: string;
  /** Ids of the compared runs. */
  taken: readonly string[];
  onAdd: (id: string) => void;
}

export function AddRun(props: AddRunProps) {
  const trigger = (
    <Button>
      <Plus size={14} aria-hidden /> Add run
    </Button>
  );
  return (
    <Popover trigger={trigger} label="Add a run" align="end">
      <RunFinder {...props} />
    </Popover>
  );
}

function RunFinder({ namespace, taken, onAdd }: AddRunProps) {
  const [typed, setTyped] = useState("");
  const text = useDeferredValue(typed.trim());
  const { data, error, refetch } = useQuery({
    queryKey: ["add-run", text === "" ? namespace : "", text],
    queryFn: ({ signal }) =>
      cairn.runs.searchRuns(
        {
          query: queryFor(text),
          namespace: text === "" ? namespace : "",
          pageSize: RESULTS_MAX,
          columns: ["notes"],
        },
        { signal },
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <TextField
        label="Name or id of a run"
        value={typed}
        onChange={setTyped}
        placeholder="Part of a name, or an id"
        quiet
      />
      {error !== null ? (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      ) : (
        <ul className={styles.results} aria-label="Runs found">
          {data === undefined && (
            <li>
              <Skeleton lines={6} />
            </li>
          )}
          {data?.runs.length === 0 && <li className={styles.result}>No matches.</li>}
          {data?.runs.map((run) => (
            <li key={run.id}>
              <button
                type="button"
                className={styles.result}
                disabled={taken.includes(run.id)}
                onClick={() => onAdd(run.id)}
              >
                <StatusDot status={run.status} bare />
                <Name text={run.name} />
                <span className={styles.where}>
                  <Name text={run.namespace} />
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The typed text is literal. */
function queryFor(text: string): string {
  if (text === "") return "order by started desc";
  const part = quoteText(`%${escapeLike(text)}%`);
  return `name ilike ${part} or id like ${part} or alias = ${quoteText(text)} order by started desc`;
}
