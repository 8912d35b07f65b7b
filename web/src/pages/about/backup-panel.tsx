import { useMutation, useQuery } from "@tanstack/react-query";
import { Code } from "@connectrpc/connect";
import { Failure } from "#sdk/failure.ts";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { DataTable } from "../../widgets/data-table.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatAgo } from "#lang/words/times.ts";
import { formatBytes } from "#lang/words/numbers.ts";
import { Panel } from "../../widgets/panel.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import styles from "./about.module.css";

/** A copy of everything may take long. */
const LONG = { timeoutMs: 600_000 };

export function BackupPanel({ isInMemory }: { isInMemory: boolean | undefined }) {
  const backups = useQuery({
    queryKey: ["backups"],
    enabled: isInMemory === false,
    queryFn: async ({ signal }) => (await cairn.system.listBackups({}, { signal })).backups,
  });
  const create = useMutation({
    mutationFn: () => cairn.system.createBackup({}, LONG),
    onSuccess: () => backups.refetch(),
  });
  const reason = backups.error === null ? undefined : Failure.from(backups.error);
  const isNone = isInMemory !== false || reason?.code === Code.PermissionDenied;
  return (
    <Panel
      title="Backups"
      actions={
        !isNone && (
          <Button onClick={() => create.mutate()} disabled={create.isPending}>
            {create.isPending ? "Writing …" : "Back up now"}
          </Button>
        )
      }
    >
      {create.error !== null && <ErrorNote error={create.error} />}
      {isInMemory === true ? (
        <p className={styles.quiet}>This server keeps everything in memory and cannot be backed up.</p>
      ) : reason?.code === Code.PermissionDenied ? (
        <p className={styles.quiet}>Backups require the role admin on everything.</p>
      ) : backups.error !== null ? (
        <ErrorNote error={backups.error} />
      ) : backups.data === undefined ? (
        <Skeleton lines={2} />
      ) : (
        <DataTable
          label="Backups"
          rows={backups.data}
          keyOf={({ name }) => name}
          empty="None yet. A backup is written while the server is running; `cairn restore-backup` restores one."
          columns={[
            { title: "Name", cell: ({ name }) => name },
            { title: "Written", cell: ({ createdUs }) => formatAgo(Number(createdUs)) },
            { title: "Size", isNumber: true, cell: ({ sizeBytes }) => formatBytes(Number(sizeBytes)) },
          ]}
        />
      )}
    </Panel>
  );
}
