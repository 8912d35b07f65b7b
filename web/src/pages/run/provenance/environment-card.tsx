import { useMemo, useState } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { formatCount } from "#lang/words/numbers.ts";
import { JsonTree } from "../../../widgets/texts/json-tree.tsx";
import { TextField } from "../../../widgets/fields/text-field.tsx";
import type { TreeNode } from "../../../widgets/texts/tree-rows.ts";
import { Card } from "../card.tsx";
import styles from "../run.module.css";

/** Host, packages, accelerators. */
export function EnvironmentCard({ run }: { run: Run }) {
  const [find, setFind] = useState("");
  const environment = run.provenance?.environment;
  const tree = useMemo((): TreeNode => {
    const keys = Object.keys(environment ?? {}).sort();
    const children = keys.map((key) => ({ name: key, path: key, text: environment![key]!, leaves: 1 }));
    return { name: "", path: "", children, leaves: keys.length };
  }, [environment]);
  if (tree.leaves === 0) return null;
  return (
    <Card
      title="Environment"
      count={formatCount(tree.leaves)}
      tools={
        <TextField
          label="Find in the environment"
          quiet
          placeholder="Find"
          value={find}
          onChange={setFind}
          className={styles.findSmall}
        />
      }
    >
      <JsonTree tree={tree} search={find} label="Environment" />
    </Card>
  );
}
