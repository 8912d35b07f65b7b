import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Direction, type HeldObjective } from "#proto/cairn/v1/namespace_pb.ts";
import { betterWords } from "#lang/words/directions.ts";
import { knownKeys } from "../../data/runs/key-queries.ts";
import { cairn } from "../../data/server.ts";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { Button } from "../../widgets/button.tsx";
import { Select } from "../../widgets/fields/select.tsx";
import { TextField } from "../../widgets/fields/text-field.tsx";
import { Name } from "../../widgets/name.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Dialog } from "../../widgets/popups/dialog.tsx";
import styles from "./objective.module.css";

const PATH_MAX = 60;
const OFFERED_MAX = 200;
const DIRECTIONS = [
  { value: "1", label: betterWords("min") },
  { value: "2", label: betterWords("max") },
] as const;
type DirectionChoice = (typeof DIRECTIONS)[number]["value"];

/** A form for the metric by which the runs of a namespace, and of those below it, are compared. For maintainers. */
export function ObjectiveDialog({
  namespace,
  held,
  onClose,
}: {
  namespace: string;
  /** The one that applies, own or inherited. */
  held: HeldObjective | undefined;
  onClose: () => void;
}) {
  const id = useId();
  const { data: known } = useQuery(knownKeys(namespace));
  const [metric, setMetric] = useState(held?.metric ?? "");
  const [chosen, setChosen] = useState<DirectionChoice>();
  const wanted = metric.trim();
  // What is known of the metric, until the user chooses.
  const direction = chosen ?? choiceOf(directionOf(wanted, held, known?.directions));
  const save = useSaveObjective(namespace, onClose);
  const isOwn = held !== undefined && held.namespace === namespace;
  return (
    <Dialog
      title={`Objective of ${visibleText(cutText(namespace, PATH_MAX))}`}
      open
      onClose={onClose}
      actions={
        <>
          {isOwn && (
            <Button onClick={() => save.mutate(undefined)} disabled={save.isPending}>
              Remove the objective
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button primary type="submit" form={id} disabled={wanted === "" || save.isPending}>
            Save
          </Button>
        </>
      }
    >
      <form
        id={id}
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (wanted !== "") save.mutate({ metric: wanted, direction: Number(direction) as Direction });
        }}
      >
        <TextField
          label="Metric"
          value={metric}
          onChange={setMetric}
          mono
          list={`${id}-metrics`}
          placeholder="val/loss"
        />
        <datalist id={`${id}-metrics`}>
          {(known?.metrics ?? []).slice(0, OFFERED_MAX).map((key) => (
            <option key={key} value={key} />
          ))}
        </datalist>
        <div>
          <Select label="Direction" value={direction} choices={DIRECTIONS} onChange={setChosen} />
        </div>
        <p className={styles.note}>
          Runs of <Name text={namespace} mono /> and the namespaces below it are ranked by the best value of
          this metric.
          {held !== undefined && !isOwn && (
            <>
              {" "}
              Now the objective of <Name text={held.namespace} mono /> applies.
            </>
          )}
        </p>
        {save.error !== null && <ErrorNote error={save.error} />}
      </form>
    </Dialog>
  );
}

function directionOf(
  metric: string,
  held: HeldObjective | undefined,
  directions: ReadonlyMap<string, Direction> | undefined,
): Direction {
  if (metric === held?.metric) return held.direction;
  return directions?.get(metric) ?? Direction.UNSPECIFIED;
}

function choiceOf(direction: Direction): DirectionChoice {
  return direction === Direction.MAXIMIZE ? "2" : "1";
}

/** Saves it, or removes it when there is none, and reads everything again that depends on it. */
function useSaveObjective(path: string, onSaved: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (objective: { metric: string; direction: Direction } | undefined) =>
      cairn.namespaces.updateNamespace(
        objective === undefined ? { path, clearObjective: true } : { path, objective },
      ),
    onSuccess: async () => {
      await Promise.all(
        ["namespaces", "best-runs", "known-keys", "key-descriptions", "objective"].map((key) =>
          client.invalidateQueries({ queryKey: [key] }),
        ),
      );
      onSaved();
    },
  });
}
