import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { compareCodePoints } from "#lang/code-points.ts";
import type { StoredPrincipal } from "../ports/access-store.ts";
import { pageSize } from "../lists/page-size.ts";
import { addressKey } from "./passwords/address-key.ts";
import { administersAsGroup, administersRoot, requireAdministrator } from "./administrators.ts";
import { auditRecord } from "./audit/audit-record.ts";
import type { AccessBook } from "./book.ts";
import { authorize, authorizeCall, type Caller } from "./caller.ts";
import { endFirstToken, firstTokenOf, hasBetterWayIn } from "./tokens/first-token.ts";
import { getPrincipal, requireDisplayName, requireName } from "./names.ts";
import type { PasswordChecks } from "./passwords/password-checks.ts";
import { requirePassword, type Passwords } from "./passwords/password.ts";
import type { AccessState } from "./state.ts";
import { endedFacts, endPasswordFamily, endTokens } from "./tokens/token-family.ts";
import { holderOf } from "./tokens/token-rights.ts";
import type { NewPrincipal, Page, PrincipalChange, PrincipalView } from "./views.ts";

/** Users, services and groups. They belong to the whole server, so that its administrators keep them. */
export class Principals {
  readonly #book: AccessBook;
  readonly #passwords: Passwords;
  readonly #checks: PasswordChecks;

  constructor(book: AccessBook, passwords: Passwords, checks: PasswordChecks) {
    this.#book = book;
    this.#passwords = passwords;
    this.#checks = checks;
  }

  async create(caller: Caller, request: NewPrincipal): Promise<PrincipalView> {
    authorize(caller);
    const { kind } = request;
    const name = requireName(request.name);
    const displayName = requireDisplayName(request.displayName);
    if (request.password !== "") await this.#prove(caller, request.yourPassword);
    const password = request.password === "" ? undefined : await this.#hash(caller, kind, request.password);
    return this.#book.change((state, nowUs) => {
      authorize(caller);
      if (state.principals.has(name)) {
        throw new CairnError("exists", `cannot create principal ${quote(name)}: it exists already`);
      }
      requireRoom(state.principals.size, limits.principalsMax, "principals");
      const principal = { name, kind, displayName, disabled: false, createdUs: nowUs, password };
      return {
        changes: [{ do: "put-principal", principal }],
        audit: [auditRecord(caller, nowUs, "create-principal", name, { kind })],
        result: viewPrincipal(state, principal),
      };
    });
  }

  list(caller: Caller, page: Page): { principals: PrincipalView[]; nextPageToken: string } {
    authorizeCall(caller);
    const limit = pageSize(page.pageSize);
    const { state } = this.#book;
    const rest = [...state.principals.keys()]
      .filter((name) => compareCodePoints(name, page.pageToken) > 0)
      .sort(compareCodePoints);
    const names = rest.slice(0, limit);
    return {
      principals: names.map((name) => viewPrincipal(state, getPrincipal(state, name))),
      nextPageToken: rest.length > limit ? names.at(-1)! : "",
    };
  }

  async update(caller: Caller, change: PrincipalChange): Promise<PrincipalView> {
    authorize(caller);
    const { name, displayName, disabled, password } = change;
    if (displayName !== undefined) requireDisplayName(displayName);
    await this.#book.catchUp();
    const { kind } = getPrincipal(this.#book.state, name);
    // The first administrator has none yet.
    const isFirst = holderOf(caller)?.principal.name === name && firstTokenOf(this.#book.state, caller);
    if (password !== undefined && !isFirst) await this.#prove(caller, change.yourPassword);
    const hashed =
      password === undefined || password === "" ? undefined : await this.#hash(caller, kind, password);
    return this.#book.change((state, nowUs) => {
      authorize(caller);
      const before = getPrincipal(state, name);
      if (disabled === true) requireAdministrator(state, { principal: name });
      const principal: StoredPrincipal = {
        ...before,
        displayName: displayName ?? before.displayName,
        disabled: disabled ?? before.disabled,
        password: password === undefined ? before.password : hashed,
      };
      // What was made with the old password ends with it, except the token of this call.
      const holder = holderOf(caller);
      const own = holder?.principal.name === name ? holder.token : undefined;
      const ended = password === undefined ? [] : endPasswordFamily(state, name, own);
      const isWayIn = hashed !== undefined && administersRoot(state, name);
      const first = isWayIn ? endFirstToken(state, caller, nowUs) : { changes: [], audit: [] };
      const facts = {
        ...(displayName !== undefined && { display_name: displayName }),
        ...(disabled !== undefined && { disabled: String(disabled) }),
        ...(password !== undefined && { password: hashed === undefined ? "removed" : "changed" }),
        ...endedFacts(ended),
      };
      return {
        changes: [{ do: "put-principal", principal }, ...ended, ...first.changes],
        audit: [auditRecord(caller, nowUs, "update-principal", name, facts), ...first.audit],
        result: viewPrincipal(state, principal),
      };
    });
  }

  delete(caller: Caller, name: string): Promise<void> {
    return this.#book.change((state, nowUs) => {
      authorize(caller);
      const { kind } = getPrincipal(state, name);
      requireAdministrator(state, { principal: name });
      const ended = endTokens(state, [
        ...state.tokensOf(name),
        ...state.tokens.values().flatMap(({ id, passwordOf }) => (passwordOf === name ? [id] : [])),
      ]);
      const facts = { kind, ...endedFacts(ended) };
      return {
        changes: [...ended, { do: "delete-principal", name }],
        audit: [auditRecord(caller, nowUs, "delete-principal", name, facts)],
        result: undefined,
      };
    });
  }

  addMember(caller: Caller, request: { group: string; member: string }): Promise<void> {
    return this.#changeMember(caller, request, "add-member", (state) => {
      const { group, member } = request;
      if (getPrincipal(state, member).kind === "group") {
        throw new CairnError(
          "invalid",
          `cannot add ${quote(member)} to group ${quote(group)}: it is a group`,
          {
            hint: "groups hold users and services only",
          },
        );
      }
      if (state.membersOf(group).has(member)) return false;
      requireRoom(state.membersOf(group).size, limits.membersPerGroupMax, `members of group ${quote(group)}`);
      requireRoom(state.groupsOf(member).size, limits.groupsPerPrincipalMax, `groups of ${quote(member)}`);
      return true;
    });
  }

  removeMember(caller: Caller, request: { group: string; member: string }): Promise<void> {
    return this.#changeMember(caller, request, "remove-member", (state) => {
      requireAdministrator(state, { membership: request });
      return state.membersOf(request.group).has(request.member);
    });
  }

  #changeMember(
    caller: Caller,
    request: { group: string; member: string },
    what: "add-member" | "remove-member",
    isChange: (state: AccessState) => boolean,
  ): Promise<void> {
    const { group, member } = request;
    return this.#book.change((state, nowUs) => {
      authorize(caller);
      if (getPrincipal(state, group).kind !== "group") {
        throw new CairnError("invalid", `cannot change the members of ${quote(group)}: it is not a group`);
      }
      if (!isChange(state)) return { changes: [], audit: [], result: undefined };
      const isWayIn =
        what === "add-member" && administersAsGroup(state, group) && hasBetterWayIn(state, member, nowUs);
      const first = isWayIn ? endFirstToken(state, caller, nowUs) : { changes: [], audit: [] };
      return {
        changes: [{ do: what, group, member }, ...first.changes],
        audit: [auditRecord(caller, nowUs, what, group, { member }), ...first.audit],
        result: undefined,
      };
    });
  }

  /** A stolen session must not give permanent access. */
  async #prove(caller: Caller, password: string | undefined): Promise<void> {
    await this.#checks.prove(caller, { password, what: "give a password", field: "your_password" });
  }

  #hash({ address }: Caller, kind: StoredPrincipal["kind"], password: string): Promise<string> {
    if (kind !== "user") {
      throw new CairnError("invalid", `cannot give a ${kind} a password: only users log in`, {
        hint: "create a token for it instead",
      });
    }
    return this.#passwords.hash(requirePassword(password), { address: addressKey(address), isKnown: true });
  }
}

export function viewPrincipal(state: AccessState, principal: StoredPrincipal): PrincipalView {
  const { name, kind, displayName, disabled, createdUs, password } = principal;
  return {
    name,
    kind,
    displayName,
    disabled,
    createdUs,
    members: [...state.membersOf(name)].sort(compareCodePoints),
    groups: [...state.groupsOf(name)].sort(compareCodePoints),
    hasPassword: password !== undefined,
  };
}

/** Throws `exhausted` when one more would be too many. */
export function requireRoom(count: number, max: number, what: string): void {
  if (count < max) return;
  throw new CairnError("exhausted", `cannot add to the ${what}: there are ${max}, which is the most`, {
    reason: "LIMIT_EXCEEDED",
    facts: { limit: String(max) },
  });
}
