import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { PrincipalKind, Role, type Token } from "#proto/cairn/v1/access_pb.ts";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { DataTable } from "../../widgets/data-table.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatAgo } from "#lang/words/times.ts";
import { Name } from "../../widgets/name.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Select } from "../../widgets/fields/select.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import { principals, roleWord, tokensOf } from "./access-data.ts";
import styles from "./access.module.css";
import { NewToken } from "./new-token.tsx";

/** The own tokens or, for administrators, those of others: made here, shown once, revoked at once. */
export function TokensPanel({
  of,
  hasOwn,
  ownId,
  onChoose,
}: {
  of: string;
  /** The owner of the machine has no tokens. */
  hasOwn: boolean;
  /** The token of this very session. */
  ownId: string;
  onChoose: (of: string) => void;
}) {
  const client = useQueryClient();
  const everybody = useQuery({ ...principals, retry: false });
  const holders = (everybody.data ?? []).filter(
    ({ kind }) => kind === PrincipalKind.USER || kind === PrincipalKind.SERVICE,
  );
  const chosen = of === "" && !hasOwn ? (holders[0]?.name ?? "") : of;
  const isKnown = hasOwn || chosen !== "";
  const tokens = useQuery({ ...tokensOf(chosen), enabled: isKnown });
  const revoke = useMutation({
    mutationFn: (id: string) => cairn.access.revokeToken({ id }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["access", "tokens"] }),
  });
  const [isCreating, setCreating] = useState(false);
  const choices = [
    ...(hasOwn ? [{ value: "", label: "yourself" }] : []),
    ...holders.map(({ name }) => ({ value: name, label: visibleText(name) })),
  ];
  return (
    <div className={styles.panels}>
      <Panel
        title="Tokens"
        actions={
          <span className={styles.actions}>
            {choices.length > 1 && <Select label="Of" value={chosen} choices={choices} onChange={onChoose} />}
            <Button primary onClick={() => setCreating(true)} disabled={!isKnown}>
              New token …
            </Button>
          </span>
        }
      >
        {revoke.error !== null && <ErrorNote error={revoke.error} />}
        {!isKnown ? (
          <p className={styles.quiet}>
            Your own programs on this machine need no token. For other users and machines, first make a
            service under People; its tokens are made here.
          </p>
        ) : tokens.error !== null ? (
          <ErrorNote error={tokens.error} />
        ) : tokens.data === undefined ? (
          <Skeleton lines={3} />
        ) : (
          <TokenTable
            tokens={tokens.data}
            ownId={ownId}
            onRevoke={(id) => revoke.mutate(id)}
            isBusy={revoke.isPending}
          />
        )}
      </Panel>
      <NewToken principal={chosen} open={isCreating} onClose={() => setCreating(false)} />
    </div>
  );
}

function TokenTable({
  tokens,
  ownId,
  onRevoke,
  isBusy,
}: {
  tokens: readonly Token[];
  ownId: string;
  onRevoke: (id: string) => void;
  isBusy: boolean;
}) {
  return (
    <DataTable
      label="Tokens"
      rows={tokens}
      keyOf={({ id }) => id}
      empty="No tokens yet."
      columns={[
        {
          title: "Name",
          cell: ({ name, id }) => <Name text={id === ownId ? `${name} (this session)` : name || "unnamed"} />,
        },
        {
          title: "Highest role",
          cell: ({ role }) => (role === Role.UNSPECIFIED ? "same as its principal" : roleWord(role)),
        },
        { title: "Where", cell: ({ namespaces }) => <Name text={namespaces.join(", ") || "everywhere"} /> },
        { title: "Made", cell: ({ createdUs }) => formatAgo(Number(createdUs)) },
        {
          title: "Last used",
          cell: ({ lastUsedUs }) => formatAgo(lastUsedUs),
        },
        { title: "Ends", cell: ({ expiresUs }) => endWords(Number(expiresUs)) },
        {
          title: "Revoke",
          isUntitled: true,
          isNumber: true,
          cell: ({ id, name }) => (
            <Button
              label={`Revoke ${visibleText(name)}`}
              onClick={() => onRevoke(id)}
              disabled={isBusy || id === ownId}
            >
              Revoke
            </Button>
          ),
        },
      ]}
    />
  );
}

function endWords(expiresUs: number): string {
  if (expiresUs === 0) return "never";
  if (expiresUs / 1_000 < Date.now()) return "has ended";
  return new Date(expiresUs / 1_000).toISOString().slice(0, 10);
}
