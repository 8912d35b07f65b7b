/** What one core would have done: the model that two cores on one store are compared with. */
import fc from "fast-check";
import { Access } from "#core/access/access.ts";
import { PERMISSIONS } from "#core/types/permission.ts";
import { ROLES } from "#core/types/role.ts";
import { Follower } from "#core/journal/follower.ts";
import type { AccessContent, AccessStore } from "#core/ports/access-store.ts";
import { ListJournal } from "#core/journal/testing/list-journal.ts";
import { CairnError } from "#lang/errors.ts";
import { ADMIN, on } from "../access-under-test.ts";
import { ListAccess, sortedContent } from "../list-access.ts";
import { NOW_US } from "../stores.ts";

const PATHS = ["a", "a/b", "c"];

/** By the owner. */
type Act = (access: Access) => Promise<unknown>;

export interface Step {
  core: 0 | 1;
  act: Act;
}

const path = fc.constantFrom(...PATHS);
const subject = fc.constantFrom("u1", "lab", "everyone");
const principal = fc.constantFrom("u2", "lab");
const membership = fc.constantFrom(
  { group: "lab", member: "u1" },
  { group: "lab", member: "u2" },
  { group: "u1", member: "u2" },
);

const act: fc.Arbitrary<Act> = fc.oneof(
  principal.map(
    (name): Act =>
      (access) =>
        access.createPrincipal(ADMIN, {
          name,
          kind: name === "lab" ? "group" : "user",
          displayName: "",
          password: "",
        }),
  ),
  principal.map(
    (name): Act =>
      (access) =>
        access.deletePrincipal(ADMIN, name),
  ),
  membership.map(
    (one): Act =>
      (access) =>
        access.addMember(ADMIN, one),
  ),
  membership.map(
    (one): Act =>
      (access) =>
        access.removeMember(ADMIN, one),
  ),
  fc.record({ principal: subject, role: fc.constantFrom(...ROLES), path }).map(
    ({ path: at, ...bound }): Act =>
      (access) =>
        access.bindRole(ADMIN, { ...bound, scope: on(at) }),
  ),
  fc.record({ principal: subject, path }).map(
    ({ principal: name, path: at }): Act =>
      (access) =>
        access.unbindRole(ADMIN, { principal: name, scope: on(at) }),
  ),
  fc.record({ path, closed: fc.boolean() }).map(
    ({ path: at, closed }): Act =>
      (access) =>
        access.setClosed(ADMIN, { scope: on(at), closed }),
  ),
  fc.boolean().map(
    (disabled): Act =>
      (access) =>
        access.updatePrincipal(ADMIN, { name: "u1", disabled }),
  ),
);

/** Steps that are made at once, each at one of the cores. */
export const stepsAtOnce: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ core: fc.constantFrom(0 as const, 1 as const), act }),
  { minLength: 1, maxLength: 3 },
);

export async function outcomeOf(access: Access, step: Act): Promise<string> {
  try {
    await step(access);
    return "done";
  } catch (thrown) {
    const { code, reason = "" } = CairnError.from(thrown);
    return `${code} ${reason}`;
  }
}

/** The possible results of the steps, one after the other, in each order. */
export function possibleOutcomes(
  before: AccessContent,
  steps: readonly Step[],
): Promise<{ outcomes: string[]; content: AccessContent }[]> {
  return Promise.all(
    orders(steps.length).map(async (order) => {
      const store = new ListAccess(structuredClone(before));
      const access = await openModel(store);
      const outcomes: string[] = [];
      for (const place of order) outcomes[place] = await outcomeOf(access, steps[place]!.act);
      await access.close();
      return { outcomes, content: sortedContent(store.content) };
    }),
  );
}

export async function contentOf(store: AccessStore): Promise<AccessContent> {
  const { position: _, ...content } = await store.loadAccess();
  return sortedContent(content);
}

/** Of the token's holder, everywhere. */
export async function rightsOf(access: Access, secret: string): Promise<boolean[] | "refused"> {
  try {
    const { rights } = await access.identify(secret);
    return PATHS.flatMap((namespace) =>
      PERMISSIONS.map((permission) => rights.may(permission, { namespace })),
    );
  } catch {
    return "refused";
  }
}

export function openModel(store: AccessStore, follower = new Follower(new ListJournal())): Promise<Access> {
  follower.stop();
  return Access.open({
    store,
    clock: { nowUs: () => NOW_US },
    follower,
    locateRun: () => Promise.reject(new CairnError("not-found", "cannot find a run: there are none")),
  });
}

function orders(count: number): number[][] {
  if (count === 0) return [[]];
  return orders(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, at) => order.toSpliced(at, 0, count - 1)),
  );
}
