import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { DataTable } from "../../widgets/data-table.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatAgo } from "#lang/words/times.ts";
import { Name } from "../../widgets/name.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { TextField } from "../../widgets/fields/text-field.tsx";
import styles from "./access.module.css";

const PAGE = 50;
/** Enough to distinguish tokens. */
const TOKEN_DIGITS = 16;

/** Who changed, replaced or deleted what, and every sign-in, newest first. */
export function AuditPanel() {
  const [who, setWho] = useState("");
  const [action, setAction] = useState("");
  const audit = useInfiniteQuery({
    queryKey: ["access", "audit", who, action],
    retry: false,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      cairn.access.listAudit(
        { principal: who.trim(), action: action.trim(), pageSize: PAGE, pageToken: pageParam },
        { signal },
      ),
    getNextPageParam: ({ nextPageToken }) => (nextPageToken === "" ? undefined : nextPageToken),
  });
  return (
    <div className={styles.panels}>
      <Panel
        title="Audit"
        actions={
          <span className={styles.actions}>
            <TextField label="Who" value={who} onChange={setWho} placeholder="anybody" quiet />
            <TextField label="Action" value={action} onChange={setAction} placeholder="any action" quiet />
          </span>
        }
      >
        {audit.error !== null ? (
          <ErrorNote error={audit.error} />
        ) : audit.data === undefined ? (
          <Skeleton lines={6} />
        ) : (
          <>
            <DataTable
              label="Audit"
              rows={audit.data.pages.flatMap(({ entries }) => entries)}
              keyOf={({ number }) => String(number)}
              empty="No matches."
              columns={[
                { title: "No.", isNumber: true, cell: ({ number }) => String(number) },
                { title: "When", cell: ({ timeUs }) => formatAgo(Number(timeUs)) },
                { title: "Who", cell: ({ principal }) => <Name text={principal} /> },
                { title: "From", cell: ({ address }) => <Name text={address} mono /> },
                { title: "Token", cell: ({ token }) => <Name text={token.slice(0, TOKEN_DIGITS)} mono /> },
                { title: "Did", cell: ({ action: did }) => <Name text={did} mono /> },
                { title: "To", cell: ({ target }) => <Name text={target} mono /> },
                {
                  title: "Facts",
                  cell: ({ facts }) => (
                    <Name
                      text={Object.entries(facts)
                        .map((pair) => pair.join("="))
                        .join(" ")}
                      mono
                    />
                  ),
                },
              ]}
            />
            {audit.hasNextPage && (
              <div className={styles.bind}>
                <Button onClick={() => void audit.fetchNextPage()} disabled={audit.isFetchingNextPage}>
                  Earlier entries
                </Button>
              </div>
            )}
          </>
        )}
      </Panel>
    </div>
  );
}
