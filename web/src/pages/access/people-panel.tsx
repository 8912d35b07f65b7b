import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { PrincipalKind, type Principal } from "#proto/cairn/v1/access_pb.ts";
import { formatCount } from "#lang/words/numbers.ts";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { DataTable } from "../../widgets/data-table.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { TextField } from "../../widgets/fields/text-field.tsx";
import { Menu, MenuItem, MenuLine } from "../../widgets/popups/menu.tsx";
import { Name } from "../../widgets/name.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import { kindWord, principals } from "./access-data.ts";
import styles from "./access.module.css";
import { MembersDialog } from "./members-dialog.tsx";
import { NewPrincipal } from "./new-principal.tsx";

/** More than users scroll through. */
const ROWS_MAX = 200;

/** Users, services and groups. */
export function PeoplePanel({ onTokens }: { onTokens: (name: string) => void }) {
  const everybody = useQuery({ ...principals, retry: false });
  const [isCreating, setCreating] = useState(false);
  const [members, setMembers] = useState("");
  const [wanted, setWanted] = useState("");
  const { refresh, disable, remove } = usePrincipalChanges();
  const failure = disable.error ?? remove.error;
  const group = everybody.data?.find(({ name }) => name === members);
  const isLong = (everybody.data?.length ?? 0) > ROWS_MAX;
  const found = (everybody.data ?? []).filter(({ name, displayName }) =>
    `${name} ${displayName}`.toLowerCase().includes(wanted.trim().toLowerCase()),
  );
  return (
    <div className={styles.panels}>
      <Panel
        title="People"
        actions={
          <span className={styles.actions}>
            {(isLong || wanted !== "") && (
              <TextField label="Find" quiet placeholder="Find …" value={wanted} onChange={setWanted} />
            )}
            <Button primary onClick={() => setCreating(true)}>
              New …
            </Button>
          </span>
        }
      >
        {failure !== null && <ErrorNote error={failure} />}
        {everybody.error !== null ? (
          <ErrorNote error={everybody.error} />
        ) : everybody.data === undefined ? (
          <Skeleton lines={3} />
        ) : (
          <PeopleTable
            rows={found.slice(0, ROWS_MAX)}
            empty={everybody.data.length === 0 ? "No users, services or groups yet." : "No matches."}
            onMembers={setMembers}
            onTokens={onTokens}
            onDisable={disable.mutate}
            onDelete={remove.mutate}
          />
        )}
        {found.length > ROWS_MAX && (
          <p className={styles.quiet}>
            {formatCount(found.length - ROWS_MAX)} more: type a part of the name.
          </p>
        )}
      </Panel>
      <NewPrincipal open={isCreating} onClose={() => setCreating(false)} onCreated={refresh} />
      {group !== undefined && (
        <MembersDialog
          group={group}
          everybody={everybody.data ?? []}
          onClose={() => setMembers("")}
          onChanged={refresh}
        />
      )}
    </div>
  );
}

function PeopleTable({
  rows,
  empty,
  onMembers,
  onTokens,
  onDisable,
  onDelete,
}: {
  rows: readonly Principal[];
  empty: string;
  onMembers: (name: string) => void;
  onTokens: (name: string) => void;
  onDisable: (principal: Principal) => void;
  onDelete: (name: string) => void;
}) {
  return (
    <DataTable
      label="People"
      rows={rows}
      keyOf={({ name }) => name}
      empty={empty}
      columns={[
        { title: "Name", cell: ({ name }) => <Name text={name} /> },
        {
          title: "Kind",
          cell: ({ kind, disabled }) => `${kindWord(kind)}${disabled ? ", disabled" : ""}`,
        },
        { title: "Display name", cell: ({ displayName }) => <Name text={displayName} /> },
        {
          title: "Groups, members",
          cell: ({ groups, members: all, kind }) => (
            <Name text={(kind === PrincipalKind.GROUP ? all : groups).join(", ")} />
          ),
        },
        {
          title: "Actions",
          isUntitled: true,
          isNumber: true,
          cell: (principal) => (
            <PrincipalMenu
              principal={principal}
              onMembers={() => onMembers(principal.name)}
              onTokens={() => onTokens(principal.name)}
              onDisable={() => onDisable(principal)}
              onDelete={() => onDelete(principal.name)}
            />
          ),
        },
      ]}
    />
  );
}

function usePrincipalChanges() {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: principals.queryKey });
  const disable = useMutation({
    mutationFn: ({ name, disabled }: Principal) =>
      cairn.access.updatePrincipal({ name, disabled: !disabled }),
    onSuccess: refresh,
  });
  const remove = useMutation({
    mutationFn: (name: string) => cairn.access.deletePrincipal({ name }),
    onSuccess: refresh,
  });
  return { refresh, disable, remove };
}

function PrincipalMenu({
  principal: { name, kind, disabled },
  onMembers,
  onTokens,
  onDisable,
  onDelete,
}: {
  principal: Principal;
  onMembers: () => void;
  onTokens: () => void;
  onDisable: () => void;
  onDelete: () => void;
}) {
  return (
    <Menu align="end" trigger={<Button aria-label={`Actions for ${visibleText(name)}`}>…</Button>}>
      {kind === PrincipalKind.GROUP ? (
        <MenuItem onClick={onMembers}>Members …</MenuItem>
      ) : (
        <MenuItem onClick={onTokens}>Tokens</MenuItem>
      )}
      <MenuItem onClick={onDisable}>{disabled ? "Enable" : "Disable"}</MenuItem>
      <MenuLine />
      <MenuItem onClick={onDelete}>Delete with tokens and roles</MenuItem>
    </Menu>
  );
}
