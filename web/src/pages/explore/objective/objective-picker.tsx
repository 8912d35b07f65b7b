import { betterWords } from "#lang/words/directions.ts";
import { Select } from "../../../widgets/fields/select.tsx";
import type { KnownKeys } from "../../../data/runs/known-keys.ts";
import styles from "../pickers.module.css";
import { FieldPicker } from "../field-picker.tsx";
import type { Objective } from "./objective.ts";
import type { ExplorePatch, Goal } from "../search.ts";

const GOALS: readonly { value: Goal; label: string }[] = [
  { value: "min", label: betterWords("min") },
  { value: "max", label: betterWords("max") },
];

/** The objective of this page, and its direction. */
export function ObjectivePicker({
  objective,
  known,
  onSearch,
}: {
  objective: Objective | undefined;
  known: KnownKeys | undefined;
  onSearch: (patch: ExplorePatch) => void;
}) {
  return (
    <div className={styles.objective}>
      <FieldPicker
        label="Objective"
        value={objective?.text}
        listed={undefined}
        known={known}
        metricsOnly
        onChange={(text) => onSearch({ objective: text, goal: undefined })}
      />
      {objective !== undefined && (
        <Select
          label="Which way is better"
          quiet
          value={objective.goal}
          choices={GOALS}
          onChange={(goal) => onSearch({ goal })}
        />
      )}
    </div>
  );
}
