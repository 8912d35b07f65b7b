import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { cairn } from "../../data/server.ts";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Select } from "../../widgets/fields/select.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import { principals, roleWord } from "./access-data.ts";
import styles from "./access.module.css";

/** The permissions of a principal on the namespace, and the roles they come from. */
export function ExplainPanel({ path }: { path: string }) {
  const everybody = useQuery({ ...principals, retry: false });
  const [who, setWho] = useState("");
  const explained = useQuery({
    queryKey: ["access", "scope", path, "explain", who],
    retry: false,
    queryFn: ({ signal }) =>
      cairn.access.explainAccess({ principal: who, scope: { namespace: path } }, { signal }),
  });
  const choices = [
    { value: "", label: "you" },
    ...(everybody.data ?? []).map(({ name }) => ({ value: name, label: visibleText(name) })),
  ];
  return (
    <Panel title="Why?" actions={<Select label="What may" value={who} choices={choices} onChange={setWho} />}>
      <div className={styles.explain}>
        {explained.error !== null ? (
          <ErrorNote error={explained.error} />
        ) : explained.data === undefined ? (
          <Skeleton lines={2} />
        ) : (
          <>
            <p>{visibleText(explained.data.summary)}</p>
            <ul className={styles.reasons}>
              {explained.data.reasons.map(({ binding, through, counts, cutBy }, i) => (
                <li key={i} className={counts ? undefined : styles.cut}>
                  {binding &&
                    `${roleWord(binding.role)} of ${visibleText(binding.scope?.namespace || "everything")}`}
                  {through !== "" && ` through ${visibleText(through)}`}
                  {!counts && `, cut off by ${visibleText(cutBy?.namespace || "a closed scope")}`}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </Panel>
  );
}
