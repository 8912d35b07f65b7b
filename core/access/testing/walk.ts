import type { AccessContent } from "../../ports/access-store.ts";
import type { Scope } from "../../types/scope.ts";

const STRENGTH = { viewer: 1, writer: 2, maintainer: 3, admin: 4 };

/**
 * What the holder of a token may do on a scope, found by walking from the scope outwards and looking at
 * everything that applies there. Slow and simple on purpose: it shares no code with the implementation it checks.
 */
export function walk(content: AccessContent, tokenId: string, scope: Scope): number {
  const token = content.tokens.find((one) => one.id === tokenId)!;
  const isOff = (name: string) => content.principals.some((one) => one.name === name && one.disabled);
  if (isOff(token.principal)) return 0;
  if (token.namespaces.length > 0) {
    const place = `/${scope.namespace}/`;
    const reaches = (path: string) => path === "" || place.startsWith(`/${path}/`);
    if (!token.namespaces.some(reaches)) return 0;
  }
  const names = ["everyone", token.principal];
  for (const { group, member } of content.members) {
    if (member === token.principal && !isOff(group)) names.push(group);
  }
  let best = 0;
  let shut = false;
  for (let place: Scope | undefined = scope; place !== undefined; place = parentOf(place)) {
    const here = place;
    for (const { principal, role, scope: on } of content.bindings) {
      if (!names.includes(principal) || !isSame(on, here)) continue;
      const isRootAdmin = role === "admin" && on.namespace === "" && on.runId === undefined;
      if (!shut || isRootAdmin) best = Math.max(best, STRENGTH[role]);
    }
    if (content.closed.some((one) => isSame(one, here))) shut = true;
  }
  return token.role === undefined ? best : Math.min(best, STRENGTH[token.role]);
}

function parentOf({ namespace, runId, artifact }: Scope): Scope | undefined {
  if (artifact !== undefined) return { namespace, runId: runId! };
  if (runId !== undefined) return { namespace };
  if (namespace === "") return undefined;
  return { namespace: namespace.split("/").slice(0, -1).join("/") };
}

function isSame(a: Scope, b: Scope): boolean {
  return a.namespace === b.namespace && a.runId === b.runId && a.artifact === b.artifact;
}
