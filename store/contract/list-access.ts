import { chainHash, CHAIN_START } from "#core/access/audit/audit-chain.ts";
import { scopeKey, type Scope } from "#core/types/scope.ts";
import type {
  AccessChange,
  AccessContent,
  AccessStore,
  AuditEntry,
  AuditRecord,
  AuditVerdict,
  ListAudit,
} from "#core/ports/access-store.ts";
import { compareCodePoints } from "#lang/code-points.ts";

/** A minimal AccessStore made of lists: the model that engines are compared with. */
export class ListAccess implements AccessStore {
  content: AccessContent;
  readonly entries: AuditEntry[] = [];
  #position = 0;

  constructor(content: Partial<AccessContent> = {}) {
    this.content = { principals: [], members: [], bindings: [], closed: [], tokens: [], ...content };
  }

  async loadAccess(): Promise<AccessContent & { position: number }> {
    return { ...structuredClone(this.content), position: this.#position };
  }

  async changeAccess(
    changes: readonly AccessChange[],
    audit: readonly AuditRecord[],
    basedOn = this.#position,
  ): Promise<number | undefined> {
    if (basedOn < this.#position) return undefined;
    for (const change of changes) this.#apply(structuredClone(change));
    for (const record of audit) {
      const number = this.entries.length + 1;
      const hash = chainHash(this.entries.at(-1)?.hash ?? CHAIN_START, number, record);
      const { token = "", address = "" } = record;
      this.entries.push({ ...structuredClone(record), token, address, number, hash });
    }
    if (changes.length > 0) this.#position++;
    return this.#position;
  }

  async listAudit({ before, after, limit, ...wanted }: ListAudit): Promise<AuditEntry[]> {
    const found = this.entries
      .filter(({ number }) => number < (before ?? Number.POSITIVE_INFINITY) && number > (after ?? 0))
      .filter((entry) => wanted.principal === undefined || entry.principal === wanted.principal)
      .filter((entry) => wanted.action === undefined || entry.action === wanted.action)
      .filter((entry) => wanted.target === undefined || entry.target === wanted.target);
    return (after === undefined ? found.toReversed() : found).slice(0, limit);
  }

  async getAuditHead(): Promise<{ count: number; hash: string }> {
    return { count: this.entries.length, hash: this.entries.at(-1)?.hash ?? CHAIN_START };
  }

  async verifyAudit(): Promise<AuditVerdict> {
    return { entries: this.entries.length, problems: [] };
  }

  #apply(change: AccessChange): void {
    const { content } = this;
    switch (change.do) {
      case "put-principal":
        content.principals = content.principals.filter(({ name }) => name !== change.principal.name);
        content.principals.push(change.principal);
        return;
      case "delete-principal":
        content.principals = content.principals.filter(({ name }) => name !== change.name);
        content.members = content.members.filter(
          ({ group, member }) => group !== change.name && member !== change.name,
        );
        content.bindings = content.bindings.filter(({ principal }) => principal !== change.name);
        content.tokens = content.tokens.filter(({ principal }) => principal !== change.name);
        return;
      case "add-member":
      case "remove-member": {
        const { group, member } = change;
        content.members = content.members.filter((one) => one.group !== group || one.member !== member);
        if (change.do === "add-member") content.members.push({ group, member });
        return;
      }
      case "put-binding":
        this.#dropBinding(change.binding.principal, change.binding.scope);
        content.bindings.push(change.binding);
        return;
      case "delete-binding":
        return this.#dropBinding(change.principal, change.scope);
      case "set-closed":
        content.closed = content.closed.filter((scope) => scopeKey(scope) !== scopeKey(change.scope));
        if (change.closed) content.closed.push(change.scope);
        return;
      case "put-token":
        content.tokens = content.tokens.filter(({ id }) => id !== change.token.id);
        content.tokens.push(change.token);
        return;
      case "delete-token":
        content.tokens = content.tokens.filter(({ id }) => id !== change.id);
        return;
      case "use-token": {
        const token = content.tokens.find(({ id }) => id === change.id);
        if (token !== undefined) token.lastUsedUs = Math.max(token.lastUsedUs ?? 0, change.lastUsedUs);
      }
    }
  }

  #dropBinding(principal: string, scope: Scope): void {
    this.content.bindings = this.content.bindings.filter(
      (one) => one.principal !== principal || scopeKey(one.scope) !== scopeKey(scope),
    );
  }
}

/** With its lists in an order that depends only on their content. */
export function sortedContent(content: AccessContent): AccessContent {
  const by = <T>(list: readonly T[], key: (one: T) => string) =>
    list.toSorted((a, b) => compareCodePoints(key(a), key(b)));
  return {
    principals: by(content.principals, (one) => one.name),
    members: by(content.members, (one) => `${one.group}\n${one.member}`),
    bindings: by(content.bindings, (one) => `${one.principal}\n${scopeKey(one.scope)}`),
    closed: by(content.closed, scopeKey),
    tokens: by(content.tokens, (one) => one.id),
  };
}
