import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { formatCount } from "#lang/words/numbers.ts";
import { JsonTree } from "../../../widgets/texts/json-tree.tsx";
import { TextField } from "../../../widgets/fields/text-field.tsx";
import { treeOfParams } from "../../../widgets/texts/tree-rows.ts";
import { useTypedText } from "../../../widgets/fields/typed-text.ts";
import { Card } from "../card.tsx";
import styles from "../run.module.css";
import type { RunSearch } from "../search.ts";

const route = getRouteApi("/r/$run");

export function ParamsCard({ run }: { run: Run }) {
  const { params: find = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const tree = useMemo(() => treeOfParams(run.params), [run.params]);
  const count = Object.keys(run.params).length;
  const field = useTypedText(
    find,
    (text) =>
      void navigate({
        resetScroll: false,
        search: (now) => ({ ...now, params: text === "" ? undefined : text }) as RunSearch,
        replace: true,
      }),
  );
  return (
    <Card
      title="Params"
      count={formatCount(count)}
      tools={
        <TextField
          label="Find params"
          quiet
          placeholder="Find params or values"
          {...field}
          className={styles.find}
        />
      }
    >
      {count === 0 ? (
        <EmptyState title="No params">The configuration of the job appears here if it logs it.</EmptyState>
      ) : (
        <JsonTree tree={tree} search={find} label="Params" />
      )}
    </Card>
  );
}
