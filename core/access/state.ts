import type {
  AccessChange,
  AccessContent,
  Binding,
  Member,
  StoredPrincipal,
  StoredToken,
} from "../ports/access-store.ts";
import { scopeKey, type Scope } from "../types/scope.ts";

/** The group of all callers with a valid credential. */
export const EVERYONE = "everyone";

/** All of access in memory, with an index for every question. It holds what the AccessStore holds. */
export class AccessState {
  readonly principals = new Map<string, StoredPrincipal>();
  readonly tokens = new Map<string, StoredToken>();
  readonly tokensByHash = new Map<string, StoredToken>();
  /** By scopeKey. */
  readonly closed = new Map<string, Scope>();
  bindingCount = 0;
  readonly #members = new Index<string>();
  readonly #groups = new Index<string>();
  readonly #tokensOf = new Index<string>();
  readonly #childrenOf = new Index<string>();
  /** By principal and then scope, and the other way round. */
  readonly #bindingsOf = new Map<string, Map<string, Binding>>();
  readonly #bindingsOn = new Map<string, Map<string, Binding>>();
  /** By run id, the keys of scopes in it that something is bound to or that are closed. */
  readonly #ruledRuns = new Index<string>();

  constructor(content: AccessContent) {
    for (const principal of content.principals) this.apply({ do: "put-principal", principal });
    for (const { group, member } of content.members) this.apply({ do: "add-member", group, member });
    for (const binding of content.bindings) this.apply({ do: "put-binding", binding });
    for (const scope of content.closed) this.apply({ do: "set-closed", scope, closed: true });
    for (const token of content.tokens) this.apply({ do: "put-token", token });
  }

  membersOf(group: string): ReadonlySet<string> {
    return this.#members.get(group);
  }

  groupsOf(member: string): ReadonlySet<string> {
    return this.#groups.get(member);
  }

  /** Ids. */
  tokensOf(principal: string): ReadonlySet<string> {
    return this.#tokensOf.get(principal);
  }

  /** Ids of the tokens that were made with this one. */
  childrenOf(tokenId: string): ReadonlySet<string> {
    return this.#childrenOf.get(tokenId);
  }

  bindingsOf(principal: string): Iterable<Binding> {
    return this.#bindingsOf.get(principal)?.values() ?? [];
  }

  *members(): Generator<Member> {
    for (const [group, members] of this.#members.entries()) {
      for (const member of members) yield { group, member };
    }
  }

  *bindings(): Generator<Binding> {
    for (const bindings of this.#bindingsOf.values()) yield* bindings.values();
  }

  bindingsOn(scope: Scope): Iterable<Binding> {
    return this.#bindingsOn.get(scopeKey(scope))?.values() ?? [];
  }

  findBinding(principal: string, key: string): Binding | undefined {
    return this.#bindingsOf.get(principal)?.get(key);
  }

  hasBindings(principal: string): boolean {
    return this.#bindingsOf.has(principal);
  }

  /** Whether anything is bound or closed on the run or on an artifact of it. */
  isRuled(runId: string): boolean {
    return this.#ruledRuns.has(runId);
  }

  apply(change: AccessChange): void {
    switch (change.do) {
      case "put-principal":
        this.principals.set(change.principal.name, change.principal);
        return;
      case "delete-principal":
        return this.#deletePrincipal(change.name);
      case "add-member":
        this.#members.add(change.group, change.member);
        this.#groups.add(change.member, change.group);
        return;
      case "remove-member":
        this.#members.remove(change.group, change.member);
        this.#groups.remove(change.member, change.group);
        return;
      case "put-binding":
        return this.#putBinding(change.binding);
      case "delete-binding":
        return this.#deleteBinding(change.principal, change.scope);
      case "set-closed":
        return this.#setClosed(change.scope, change.closed);
      case "put-token":
        this.tokens.set(change.token.id, change.token);
        this.tokensByHash.set(change.token.hash, change.token);
        this.#tokensOf.add(change.token.principal, change.token.id);
        if (change.token.parent !== undefined) this.#childrenOf.add(change.token.parent, change.token.id);
        return;
      case "delete-token":
        return this.#deleteToken(change.id);
      case "use-token": {
        const token = this.tokens.get(change.id);
        if (token !== undefined) token.lastUsedUs = Math.max(token.lastUsedUs ?? 0, change.lastUsedUs);
      }
    }
  }

  #deletePrincipal(name: string): void {
    for (const { scope } of this.bindingsOf(name)) this.#deleteBinding(name, scope);
    for (const id of this.tokensOf(name)) this.#deleteToken(id);
    for (const member of this.membersOf(name)) this.#groups.remove(member, name);
    for (const group of this.groupsOf(name)) this.#members.remove(group, name);
    this.#members.clear(name);
    this.#groups.clear(name);
    this.principals.delete(name);
  }

  #putBinding(binding: Binding): void {
    const key = scopeKey(binding.scope);
    if (this.findBinding(binding.principal, key) === undefined) this.bindingCount++;
    put(this.#bindingsOf, binding.principal, key, binding);
    put(this.#bindingsOn, key, binding.principal, binding);
    this.#rule(binding.scope);
  }

  #deleteBinding(principal: string, scope: Scope): void {
    const key = scopeKey(scope);
    if (this.findBinding(principal, key) === undefined) return;
    this.bindingCount--;
    take(this.#bindingsOf, principal, key);
    take(this.#bindingsOn, key, principal);
    this.#rule(scope);
  }

  #setClosed(scope: Scope, closed: boolean): void {
    if (closed) this.closed.set(scopeKey(scope), scope);
    else this.closed.delete(scopeKey(scope));
    this.#rule(scope);
  }

  /** Keeps count of the runs that need a look of their own. */
  #rule(scope: Scope): void {
    if (scope.runId === undefined) return;
    const key = scopeKey(scope);
    if (this.closed.has(key) || this.#bindingsOn.has(key)) this.#ruledRuns.add(scope.runId, key);
    else this.#ruledRuns.remove(scope.runId, key);
  }

  #deleteToken(id: string): void {
    const token = this.tokens.get(id);
    if (token === undefined) return;
    this.tokens.delete(id);
    this.tokensByHash.delete(token.hash);
    this.#tokensOf.remove(token.principal, id);
    if (token.parent !== undefined) this.#childrenOf.remove(token.parent, id);
  }
}

/** Several values per key; a key without values is removed. */
class Index<T> {
  readonly #sets = new Map<string, Set<T>>();

  get(key: string): ReadonlySet<T> {
    return this.#sets.get(key) ?? new Set();
  }

  has(key: string): boolean {
    return this.#sets.has(key);
  }

  entries(): Iterable<[string, ReadonlySet<T>]> {
    return this.#sets.entries();
  }

  add(key: string, value: T): void {
    const set = this.#sets.get(key);
    if (set === undefined) this.#sets.set(key, new Set([value]));
    else set.add(value);
  }

  remove(key: string, value: T): void {
    const set = this.#sets.get(key);
    set?.delete(value);
    if (set?.size === 0) this.#sets.delete(key);
  }

  clear(key: string): void {
    this.#sets.delete(key);
  }
}

function put<V>(maps: Map<string, Map<string, V>>, outer: string, inner: string, value: V): void {
  const map = maps.get(outer);
  if (map === undefined) maps.set(outer, new Map([[inner, value]]));
  else map.set(inner, value);
}

function take<V>(maps: Map<string, Map<string, V>>, outer: string, inner: string): void {
  const map = maps.get(outer);
  map?.delete(inner);
  if (map?.size === 0) maps.delete(outer);
}
