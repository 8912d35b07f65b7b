import { randomBytes } from "node:crypto";
import { BoundedMap } from "#base/bounded-map.ts";
import type { Clock } from "#base/clock.ts";
import { CairnError } from "#lang/errors.ts";
import { ExpiryTimer } from "./tokens/expiry-timer.ts";
import type {
  AccessChange,
  AccessContent,
  AccessStore,
  AuditRecord,
  StoredPrincipal,
  StoredToken,
} from "../ports/access-store.ts";
import type { Follower } from "../journal/follower.ts";
import { CHANGED } from "../ports/journal.ts";
import { rankOf, type Rank } from "../types/role.ts";
import { ROOT, type ReadMask } from "../types/scope.ts";
import { Standing } from "./standing.ts";
import { changesTo } from "./state-difference.ts";
import { AccessState, EVERYONE } from "./state.ts";
import { mayStillMake } from "./tokens/token-family.ts";

/** Of callers that are known at once; more are worked out again and again. */
const STANDINGS_MAX = 1_000;
const HOLDERS_MAX = 1_000;
const MASKS_MAX = 256;
/** How often a change is planned before it fails because of those of other processes. */
const PLANS_MAX = 20;

/** What is to be done: the store makes it durable with its records, as a whole. */
export interface Plan<T> {
  changes: readonly AccessChange[];
  audit: readonly AuditRecord[];
  result: T;
}

/** The holder of a token, and what that allows. */
export interface Holder {
  token: StoredToken;
  principal: StoredPrincipal;
  standing: Standing;
  /** The most the token lets through. */
  rankMax: Rank;
  namespaces: readonly string[];
  maskKey: string;
  /** Of its principal anywhere in the namespaces; worked out when it is first asked for. */
  strongest: Rank | undefined;
}

/**
 * The state of access with everything that is worked out from it. Changes come one after the other: each
 * is planned on the current state, made durable, and only then visible. Other processes change the same store:
 * the book follows them, and plans again where one of them came first.
 */
export class AccessBook {
  readonly #store: AccessStore;
  readonly #clock: Clock;
  /** What other processes have changed before the call is known here when it resolves. */
  readonly catchUp: () => Promise<void>;
  readonly #listeners = new Set<() => void>();
  readonly #bell: ExpiryTimer;
  readonly #state: AccessState;
  /** Of the journal: the state has every change of access up to it. */
  #position: number;
  /** The state has more than the store. */
  #isMixed = false;
  #version = 0;
  readonly #standings = new BoundedMap<string, Standing>(STANDINGS_MAX);
  readonly #holders = new BoundedMap<string, Holder>(HOLDERS_MAX);
  /** Those of this version, and the last ones there were: an unchanged mask keeps its id. */
  readonly #masks = new BoundedMap<string, ReadMask | undefined>(MASKS_MAX);
  readonly #lastMasks = new BoundedMap<string, ReadMask>(MASKS_MAX);
  /** Ids of masks of different books must differ too: they may share an engine, and it may outlive one of them. */
  readonly #maskPrefix = randomBytes(8).toString("hex");
  #maskCount = 0;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(
    store: AccessStore,
    clock: Clock,
    content: AccessContent & { position: number },
    catchUp: () => Promise<void>,
  ) {
    this.#store = store;
    this.catchUp = catchUp;
    this.#clock = clock;
    this.#state = new AccessState(content);
    this.#position = content.position;
    this.#bell = new ExpiryTimer(clock, () => {
      this.#bell.expectAll(this.#state.tokens.values());
      this.#notify();
    });
    this.#bell.expectAll(this.#state.tokens.values());
  }

  close(): void {
    this.#bell.close();
  }

  /** Without a follower for a store that no other process changes. */
  static async open(store: AccessStore, clock: Clock, follower?: Follower): Promise<AccessBook> {
    const catchUp = async () => follower?.catchUp();
    let book: AccessBook | undefined;
    // Followed before it is loaded, so that no change is missed.
    let isMissed = false;
    follower?.follow(CHANGED.access, (changes) => {
      if (book !== undefined) return book.#followTo(changes?.at(-1)!.position ?? Infinity);
      isMissed = true;
    });
    book = new AccessBook(store, clock, await store.loadAccess(), catchUp);
    if (isMissed) await book.#followTo(Infinity);
    return book;
  }

  get state(): AccessState {
    return this.#state;
  }

  /** Rises with every change of who may do what. */
  get version(): number {
    return this.#version;
  }

  nowUs(): number {
    return this.#clock.nowUs();
  }

  onChange(listener: () => void): () => void {
    // A listener of its own, so that unsubscribing removes only this one.
    const own = () => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /**
   * `plan` runs when all earlier changes are done; it looks, decides and throws, and changes nothing itself. It runs
   * again when another process has changed access meanwhile.
   */
  change<T>(plan: (state: AccessState, nowUs: number) => Plan<T>): Promise<T> {
    return this.whileUnchanged(async (state, basedOn) => {
      const { changes, audit, result } = plan(state, this.nowUs());
      if (changes.length === 0 && audit.length === 0) return { result };
      const position = await this.#store.changeAccess(changes, audit, basedOn);
      if (position === undefined) return undefined;
      this.#apply(changes, position);
      return { result };
    });
  }

  /**
   * For a write that depends on who may do what. `attempt` looks and throws, then writes; it does nothing and returns
   * undefined when access has changed after the position `basedOn` of the journal, and runs again on the state at that time.
   */
  async whileUnchanged<T>(
    attempt: (state: AccessState, basedOn: number) => Promise<{ result: T } | undefined>,
  ): Promise<T> {
    // The store does not check a plan that refuses, or changes nothing, so such a plan must not use an old state.
    await this.catchUp();
    return this.#inTurn(async () => {
      if (this.#isMixed) await this.#load();
      for (let tries = 0; tries < PLANS_MAX; tries++) {
        const done = await attempt(this.#state, this.#position);
        if (done !== undefined) return done.result;
        await this.#load();
      }
      throw new CairnError("unavailable", "cannot change access: other servers change it all the time", {
        reason: "ACCESS_BUSY",
      });
    });
  }

  /**
   * For an attempt of `whileUnchanged`: `work` is done while these changes hold here, too. They are among those that the
   * store makes with it. The others are taken over from the store as the journal is followed; all of them go at once where it
   * does nothing or fails.
   */
  async withMore<T>(
    changes: readonly AccessChange[],
    work: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    if (changes.length === 0) return work();
    this.#apply(changes, this.#position);
    this.#isMixed = true;
    let result: T | undefined;
    try {
      return (result = await work());
    } finally {
      // Where it cannot be loaded now, the next change or the next look at the journal does it.
      if (result === undefined) await this.#load().catch(() => undefined);
    }
  }

  /** Takes over what other processes have changed, unless it is known up to this position. */
  #followTo(position: number): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isMixed || position > this.#position) await this.#load();
    });
  }

  async #load(): Promise<void> {
    const { position, ...content } = await this.#store.loadAccess();
    this.#isMixed = false;
    this.#apply(changesTo(this.#state, content), position);
    this.#bell.expectAll(this.#state.tokens.values());
  }

  #apply(changes: readonly AccessChange[], position: number): void {
    for (const change of changes) this.#state.apply(change);
    for (const change of changes) if (change.do === "put-token") this.#bell.expect(change.token);
    this.#position = position;
    this.#follow(changes);
  }

  /** Whose bindings count for a principal: its own, those of its groups and of everyone. */
  subjectsOf(name: string): string[] {
    if (name === EVERYONE) return [EVERYONE];
    const isEnabled = (one: string) => this.#state.principals.get(one)?.disabled === false;
    if (!isEnabled(name)) return [];
    return [name, ...[...this.#state.groupsOf(name)].filter(isEnabled), EVERYONE];
  }

  standingOf(subjects: readonly string[]): Standing {
    // A principal without bindings adds nothing, so that the members of a group share one standing.
    const bound = subjects.filter((name) => this.#state.hasBindings(name)).sort();
    const key = JSON.stringify(bound);
    let standing = this.#standings.get(key);
    if (standing === undefined) {
      standing = new Standing(this.#state, bound);
      this.#standings.set(key, standing);
    }
    return standing;
  }

  /** Throws `unauthenticated` when the token no longer exists. */
  holderOf(tokenId: string): Holder {
    let holder = this.#holders.get(tokenId);
    if (holder === undefined) {
      const token = this.#state.tokens.get(tokenId);
      const principal = token && this.#state.principals.get(token.principal);
      if (token === undefined || principal === undefined) throw credentialEnded("it was revoked");
      if (!mayStillMake(this.#state, token)) {
        throw credentialEnded("who made it is not an administrator any more");
      }
      const subjects = this.subjectsOf(principal.name);
      const namespaces = token.namespaces.length === 0 ? [ROOT.namespace] : token.namespaces;
      holder = {
        token,
        principal,
        standing: this.standingOf(subjects),
        rankMax: token.role === undefined ? 4 : rankOf(token.role),
        namespaces,
        maskKey: JSON.stringify([
          subjects.filter((name) => this.#state.hasBindings(name)).sort(),
          namespaces,
        ]),
        strongest: undefined,
      };
      this.#holders.set(tokenId, holder);
    }
    return holder;
  }

  /** undefined for everything. */
  maskOf({ maskKey, standing, namespaces }: Holder): ReadMask | undefined {
    if (this.#masks.has(maskKey)) return this.#masks.get(maskKey);
    const places = standing.readPlaces(namespaces);
    let mask: ReadMask | undefined;
    if (places.runs.size > 0 || places.namespaces.size > 1 || places.namespaces.get("") === false) {
      const last = this.#lastMasks.get(maskKey);
      const isSame =
        last !== undefined && sameMap(last.namespaces, places.namespaces) && sameMap(last.runs, places.runs);
      mask = isSame ? last : { id: `${this.#maskPrefix}.${++this.#maskCount}`, ...places };
      this.#lastMasks.set(maskKey, mask);
    }
    this.#masks.set(maskKey, mask);
    return mask;
  }

  /** Tokens come and go all day long; that must not invalidate the cached answers of all callers. */
  #follow(changes: readonly AccessChange[]): void {
    const others = changes.filter((change) => change.do !== "put-token" && change.do !== "use-token");
    if (others.length === 0) return;
    if (others.some((change) => change.do !== "delete-token")) return this.#renew();
    this.#version++;
    this.#holders.clear();
    this.#notify();
  }

  /** Cached answers are invalid; open streams are notified to check again. */
  #renew(): void {
    this.#version++;
    this.#standings.clear();
    this.#holders.clear();
    this.#masks.clear();
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

export function credentialEnded(cause: string): CairnError {
  return new CairnError("unauthenticated", `cannot accept the credential any more: ${cause}`, {
    reason: "CREDENTIAL_ENDED",
    hint: "log in again, or ask for a new token",
  });
}

function sameMap(a: ReadonlyMap<string, boolean>, b: ReadonlyMap<string, boolean>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}
