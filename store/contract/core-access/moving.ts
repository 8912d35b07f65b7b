import { afterEach, beforeEach } from "vitest";
import type { Identity } from "#core/access/caller.ts";
import type { Role } from "#core/types/role.ts";
import { ADMIN, as, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { asked } from "../core-under-test.ts";
import { numbers, refused, type Bench } from "../stores.ts";

/** A second, and the delay of a busy machine. */
export const SOON = { timeout: 3_000, interval: 10 };
export const SEARCH = { query: "", namespace: "", trashed: false, pageSize: 0, pageToken: "", columns: [] };

const NO_RIGHT = refused("forbidden", "NO_RIGHT");
/** Who may not move something from namespace "a" to "b", which exists. */
export const MAY_NOT_MOVE: readonly { name: string; roles: readonly [Role, string][]; refusal: unknown }[] = [
  {
    name: "source",
    roles: [
      ["maintainer", "a"],
      ["writer", "b"],
    ],
    refusal: NO_RIGHT,
  },
  {
    name: "target",
    roles: [
      ["writer", "a"],
      ["maintainer", "b"],
    ],
    refusal: NO_RIGHT,
  },
  { name: "blind", roles: [["maintainer", "b"]], refusal: refused("not-found") },
  { name: "alone", roles: [["maintainer", "a"]], refusal: NO_RIGHT },
];

/** A user with these roles on namespaces. */
export async function userWith(
  at: AccessUnderTest,
  name: string,
  ...roles: readonly [Role, string][]
): Promise<Identity> {
  const identity = await at.user(name);
  for (const [role, namespace] of roles) await at.bind(name, role, on(namespace));
  return identity;
}

export const refTo = (id: string) => ({ by: "id", id }) as const;

/** The id of a new run. */
export async function makeRun(
  at: AccessUnderTest,
  namespace: string,
  aliases: string[] = [],
): Promise<string> {
  return (await at.runs.create(ADMIN, asked({ namespace, aliases }))).run.id;
}

/** Two cores on one store. */
export class TwoCores {
  first!: AccessUnderTest;
  second!: AccessUnderTest;

  constructor(bench: Bench) {
    beforeEach(async () => {
      [this.first, this.second] = [await openAccess(bench.under), await openAccess(bench.under)];
      for (const { follower } of [this.first, this.second]) await follower.catchUp();
    });
    afterEach(() => {
      for (const { follower } of [this.first, this.second]) follower.stop();
    });
  }

  /** A principal of the first core, as the second one identifies it. */
  async atSecond(name: string, namespaces: string[] = []): Promise<Identity> {
    return this.second.access.identify((await this.first.token(name, { namespaces })).secret);
  }
}

/** One numbered envelope with one point. */
export function writeNumbered(at: AccessUnderTest, identity: Identity, id: string, seq: number) {
  const series = [numbers("loss", [seq], seq)];
  const envelope = { run: refTo(id), writer: "w", seq, series, change: undefined, lost: [] };
  return at.core.ingest.write(as(identity, "write"), envelope);
}
