import { systemClock } from "#base/clock.ts";
import { Access } from "#core/access/access.ts";
import { OWNER, type Caller } from "#core/access/caller.ts";
import { ROLES, type Role } from "#core/types/role.ts";
import type { AskedScope } from "#core/access/views.ts";
import { Follower } from "#core/journal/follower.ts";
import { CairnError } from "#lang/errors.ts";
import type { SqliteStore } from "#store/sqlite/open.ts";
import { generator } from "../content.ts";
import { newNamespace } from "#store/contract/stores.ts";
import type { OpenStores } from "./stores.ts";
import { Ledger, requireSame, type Workload } from "./workload.ts";

const CALLER: Caller = { ...OWNER, permission: "administer" };

/** The turns, in this order, repeated. */
const TURNS = ["user", "bind", "token", "namespace", "bind", "close", "unbind", "revoke"] as const;

/** Changes of access by the owner: an acknowledged grant is in effect, a revoked one is not. */
export class GrantsWorkload implements Workload {
  readonly endsWithAck = true;
  readonly #users = new Ledger<true>();
  /** The role of "user namespace". */
  readonly #bindings = new Ledger<Role>();
  /** The user of a secret. */
  readonly #tokens = new Ledger<string>();
  readonly #namespaces = new Ledger<true>();
  readonly #closed = new Ledger<true>();
  readonly #tokenIds = new Map<string, string>();
  #store!: SqliteStore;
  #access!: Access;

  async begin({ store }: OpenStores): Promise<void> {
    this.#store = store;
    this.#access = await openAccess(store);
  }

  needs(): boolean {
    return true;
  }

  async act(turn: number): Promise<void> {
    const access = this.#access;
    const random = generator(turn);
    const pick = (names: readonly string[]) => names[Math.floor(random() * names.length)];
    const user = pick(this.#users.certain());
    const closed = new Set(this.#closed.certain());
    // A scope that is in the wanted state already need not be written.
    const namespace = pick(this.#namespaces.certain().filter((path) => !closed.has(path)));
    const binding = pick(this.#bindings.certain());
    const secret = pick(this.#tokens.certain());
    const what = TURNS[turn % TURNS.length]!;
    if (what === "namespace" || (user !== undefined && namespace === undefined)) {
      const path = `teams/n${turn}`;
      return this.#namespaces.note(path, true, () => this.#store.createNamespace(newNamespace(path)));
    }
    if (what === "user" || user === undefined || namespace === undefined) {
      const name = `user-${turn}`;
      const request = { name, kind: "user" as const, displayName: "", password: "" };
      return this.#users.note(name, true, () => access.createPrincipal(CALLER, request));
    }
    if (what === "close") {
      const request = { scope: scopeOf(namespace), closed: true };
      return this.#closed.note(namespace, true, () => access.setClosed(CALLER, request));
    }
    if (what === "unbind" && binding !== undefined) {
      const [principal, path] = binding.split(" ");
      const request = { principal: principal!, scope: scopeOf(path!) };
      return this.#bindings.note(binding, undefined, () => access.unbindRole(CALLER, request));
    }
    if (what === "token") {
      const request = { principal: user, name: `t${turn}`, role: undefined, namespaces: [], days: 1 };
      // The secret of a refused token is unknown.
      const { secret: made, token } = await access.createToken(CALLER, request);
      this.#tokenIds.set(made, token.id);
      return this.#tokens.note(made, user, () => Promise.resolve());
    }
    if (what === "revoke" && secret !== undefined) {
      const id = this.#tokenIds.get(secret)!;
      return this.#tokens.note(secret, undefined, () => access.revokeToken(CALLER, id));
    }
    const known = this.#bindings.get(`${user} ${namespace}`);
    const role = ROLES.find((one, i) => one !== known && i >= turn % ROLES.length) ?? ROLES[0];
    const request = { principal: user, role, scope: scopeOf(namespace) };
    return this.#bindings.note(`${user} ${namespace}`, role, () => access.bindRole(CALLER, request));
  }

  /** Asks an access book that has just read everything from the disk. */
  async check(settled: boolean): Promise<void> {
    const access = await openAccess(this.#store);
    const { principals, bindings, closed, members } = await this.#store.loadAccess();
    requireSame("members", members, []);
    await this.#users.check(
      "user",
      settled,
      (name) => principals.some((one) => one.name === name) || undefined,
    );
    await this.#namespaces.check("namespace", settled, async (path) =>
      (await this.#store.findNamespace(path)) === undefined ? undefined : true,
    );
    await this.#closed.check(
      "closed namespace",
      settled,
      (path) => closed.some(({ namespace, runId }) => namespace === path && runId === undefined) || undefined,
    );
    await this.#bindings.check("binding", settled, (name) => {
      const matches = bindings.filter(({ principal, scope }) => `${principal} ${scope.namespace}` === name);
      if (matches.length > 1) throw new Error(`binding ${name} is there ${matches.length} times`);
      return matches[0]?.role;
    });
    await this.#tokens.check("token", settled, async (secret) => {
      try {
        return (await access.identify(secret)).principal.name;
      } catch (thrown) {
        if (thrown instanceof CairnError && thrown.code === "unauthenticated") return undefined;
        throw thrown;
      }
    });
    requireSame("problems of the audit", (await access.verifyAudit(CALLER)).problems, []);
    // When a token was last used is written down here, which a failed disk refuses.
    await access.close().catch(() => {});
  }

  async end(): Promise<void> {
    await this.#access.close();
  }
}

function openAccess(store: SqliteStore): Promise<Access> {
  return Access.open({
    store,
    clock: systemClock,
    follower: new Follower(store),
    locateRun: () => Promise.reject(new CairnError("not-found", "cannot find a run: there are none")),
  });
}

function scopeOf(namespace: string): AskedScope {
  return { namespace, runId: "", artifact: "" };
}
