import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Binding } from "#proto/cairn/v1/access_pb.ts";
import { namespaces } from "../../data/queries.ts";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { DataTable } from "../../widgets/data-table.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatAgo } from "#lang/words/times.ts";
import { Name } from "../../widgets/name.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Select } from "../../widgets/fields/select.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { principals, ROLE_CHOICES, roleOf, roleWord, scopeAccess, type RoleChoice } from "./access-data.ts";
import styles from "./access.module.css";
import { CapturePanel } from "./capture-panel.tsx";
import { ExplainPanel } from "./explain-panel.tsx";

/** The roles on a namespace, and whether it is closed. */
export function ScopePanel({ path, onChoose }: { path: string; onChoose: (path: string) => void }) {
  const { data: tree = [] } = useQuery(namespaces);
  const access = useQuery({ ...scopeAccess(path), retry: false });
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ["access", "scope"] });
  const unbind = useMutation({
    mutationFn: (principal: string) => cairn.access.unbindRole({ principal, scope: { namespace: path } }),
    onSuccess: refresh,
  });
  const close = useMutation({
    mutationFn: (closed: boolean) => cairn.access.setClosed({ scope: { namespace: path }, closed }),
    onSuccess: refresh,
  });
  const choices = [
    { value: "", label: "everything" },
    ...tree.map((one) => ({ value: one.path, label: cutText(visibleText(one.path), 60) })),
  ];
  const failure = unbind.error ?? close.error;
  return (
    <div className={styles.panels}>
      <Panel title="Roles" actions={<Select label="On" value={path} choices={choices} onChange={onChoose} />}>
        {failure !== null && <ErrorNote error={failure} />}
        {access.error !== null ? (
          <ErrorNote error={access.error} />
        ) : access.data === undefined ? (
          <Skeleton lines={3} />
        ) : (
          <>
            <Bindings bindings={access.data.bindings} onUnbind={(principal) => unbind.mutate(principal)} />
            <Bind path={path} onBound={refresh} />
            <div className={styles.closing}>
              <p>
                {access.data.closed
                  ? "Closed: only roles bound here or below count, and those of administrators of everything."
                  : "Open: roles of the namespaces above count here, too."}
              </p>
              {path !== "" && (
                <Button onClick={() => close.mutate(!access.data.closed)} disabled={close.isPending}>
                  {access.data.closed ? "Open it" : "Close it"}
                </Button>
              )}
            </div>
          </>
        )}
      </Panel>
      <CapturePanel path={path} />
      <ExplainPanel path={path} />
    </div>
  );
}

function Bindings({
  bindings,
  onUnbind,
}: {
  bindings: readonly Binding[];
  onUnbind: (principal: string) => void;
}) {
  return (
    <DataTable
      label="Roles"
      rows={bindings}
      keyOf={({ principal }) => principal}
      empty="No role is bound here; those of the namespaces above may count."
      columns={[
        { title: "Who", cell: ({ principal }) => <Name text={principal} /> },
        { title: "Role", cell: ({ role }) => roleWord(role) },
        { title: "Given by", cell: ({ createdBy }) => <Name text={createdBy} /> },
        { title: "When", cell: ({ createdUs }) => formatAgo(Number(createdUs)) },
        {
          title: "Revoke",
          isUntitled: true,
          isNumber: true,
          cell: ({ principal }) => (
            <Button
              label={`Revoke the role of ${visibleText(principal)}`}
              onClick={() => onUnbind(principal)}
            >
              Revoke
            </Button>
          ),
        },
      ]}
    />
  );
}

function Bind({ path, onBound }: { path: string; onBound: () => Promise<unknown> }) {
  const everybody = useQuery({ ...principals, retry: false });
  const [who, setWho] = useState("");
  const [role, setRole] = useState<RoleChoice>("1");
  const bind = useMutation({
    mutationFn: () =>
      cairn.access.bindRole({ principal: who, role: roleOf(role), scope: { namespace: path } }),
    onSuccess: onBound,
  });
  const choices = [
    { value: "", label: "choose …" },
    ...(everybody.data ?? []).map(({ name }) => ({ value: name, label: visibleText(name) })),
  ];
  return (
    <div className={styles.bind}>
      <Select label="Who" value={who} choices={choices} onChange={setWho} />
      <Select label="Role" value={role} choices={ROLE_CHOICES} onChange={setRole} />
      <Button onClick={() => bind.mutate()} disabled={who === "" || bind.isPending}>
        Give the role
      </Button>
      {bind.error !== null && <ErrorNote error={bind.error} />}
    </div>
  );
}
