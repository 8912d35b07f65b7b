import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { PrincipalKind, type WhoAmIResponse } from "#proto/cairn/v1/access_pb.ts";
import { whoAmI } from "../../data/queries.ts";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { TabPanel, Tabs } from "../../widgets/tabs.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import { kindWord, roleWord } from "./access-data.ts";
import styles from "./access.module.css";
import { AuditPanel } from "./audit-panel.tsx";
import { PeoplePanel } from "./people-panel.tsx";
import { ScopePanel } from "./scope-panel.tsx";
import { TokensPanel } from "./tokens-panel.tsx";
import type { AccessSearch, AccessTab } from "./search.ts";

const TABS: readonly { value: AccessTab; label: string }[] = [
  { value: "tokens", label: "Tokens" },
  { value: "scopes", label: "Namespaces" },
  { value: "people", label: "People" },
  { value: "audit", label: "Audit" },
];

/** Roles and tokens. */
export function AccessPage() {
  const search = useSearch({ from: "/access" });
  const navigate = useNavigate({ from: "/access" });
  const change = (next: AccessSearch) => void navigate({ search: (before) => ({ ...before, ...next }) });
  const me = useQuery(whoAmI);
  const tab = search.tab ?? "tokens";
  return (
    <div className={styles.page}>
      <h1 className="unseen">Access and tokens</h1>
      <div className={styles.me}>
        {me.error !== null ? (
          <ErrorNote error={me.error} />
        ) : me.data === undefined ? (
          <Skeleton />
        ) : (
          <Me who={me.data} />
        )}
      </div>
      <Tabs label="Parts" value={tab} tabs={TABS} onChange={(value) => change({ tab: value as AccessTab })}>
        <TabPanel value="tokens">
          {me.data && (
            <TokensPanel
              of={search.of ?? ""}
              hasOwn={me.data.token !== undefined}
              ownId={me.data.token?.id ?? ""}
              onChoose={(of) => change({ of })}
            />
          )}
        </TabPanel>
        <TabPanel value="scopes">
          <ScopePanel path={search.scope ?? ""} onChoose={(scope) => change({ scope })} />
        </TabPanel>
        <TabPanel value="people">
          <PeoplePanel onTokens={(of) => change({ tab: "tokens", of })} />
        </TabPanel>
        <TabPanel value="audit">
          <AuditPanel />
        </TabPanel>
      </Tabs>
    </div>
  );
}

function Me({ who }: { who: WhoAmIResponse }) {
  const { principal, bindings } = who;
  if (principal === undefined) return null;
  if (principal.kind === PrincipalKind.OWNER) {
    return (
      <p>
        You are <b>the owner of this machine</b>: the server runs under your user and is only reachable from
        this machine, so you have all permissions.
      </p>
    );
  }
  return (
    <p>
      You are <b>{visibleText(principal.displayName || principal.name)}</b> ({kindWord(principal.kind)}),{" "}
      {bindings.length === 0
        ? "without a role of your own"
        : bindings
            .map(({ role, scope }) => `${roleWord(role)} of ${visibleText(scope?.namespace || "everything")}`)
            .slice(0, 8)
            .join(", ")}
      .
    </p>
  );
}
