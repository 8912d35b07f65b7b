import { useState } from "react";
import { Role } from "#proto/cairn/v1/access_pb.ts";
import { useHasRole } from "../../../data/use-has-role.ts";
import { ObjectiveDialog } from "../../../panels/objective/objective-dialog.tsx";
import { Button } from "../../../widgets/button.tsx";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { Name } from "../../../widgets/name.tsx";
import { printField } from "#lang/query/field-text.ts";
import type { ExploreViewProps } from "../explore-view.ts";
import { bestField } from "../../../data/runs/known-keys.ts";
import styles from "../pickers.module.css";

const OFFERED_MAX = 6;

/** Shown where an objective is required and none is set. */
export function ObjectiveOffers({
  namespace,
  known,
  onSearch,
}: Pick<ExploreViewProps, "namespace" | "known" | "onSearch">) {
  const [isSetting, setSetting] = useState(false);
  const maySet = useHasRole(Role.MAINTAINER, { namespace }) && namespace !== "";
  const metrics = (known?.metrics ?? []).slice(0, OFFERED_MAX);
  return (
    <EmptyState title="An objective is required">
      <p>
        This namespace has no objective. Choose one for this page
        {maySet ? ", or set it for all users." : ". A maintainer of it can set one for all users."}
      </p>
      {metrics.length === 0 ? (
        <p>No metric was logged in these runs.</p>
      ) : (
        <div className={styles.menuRow}>
          {metrics.map((key) => (
            <Button
              key={key}
              className={styles.picked}
              onClick={() =>
                onSearch({
                  objective: printField(bestField(key, known)),
                  goal: undefined,
                })
              }
            >
              <Name text={key} />
            </Button>
          ))}
        </div>
      )}
      {maySet && <Button onClick={() => setSetting(true)}>Set for all users …</Button>}
      {isSetting && (
        <ObjectiveDialog namespace={namespace} held={known?.objective} onClose={() => setSetting(false)} />
      )}
    </EmptyState>
  );
}
