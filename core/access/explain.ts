import { quote } from "#lang/errors.ts";
import type { AccessBook } from "./book.ts";
import { scopeWithin } from "./bounds.ts";
import { scopeText } from "./names.ts";
import { rankOf, roleOf, type Rank } from "../types/role.ts";
import { chainOf, ROOT, scopeKey, type Scope } from "../types/scope.ts";
import { EVERYONE } from "./state.ts";
import type { AccessReason, Explanation } from "./views.ts";

/** How much of it the caller may know. */
export interface ExplainView {
  /** The nearest scope around the one in question that it may see. */
  seen?: Scope;
  /** The namespace that its token is bounded to: what is around that begins there. */
  within?: string | undefined;
}

/** Why a principal may do what it may on a scope: every binding around it, and what cuts some of them off. */
export function explainAccess(
  book: AccessBook,
  name: string,
  scope: Scope,
  { seen = scope, within }: ExplainView = {},
): Explanation {
  const isDisabled = book.state.principals.get(name)?.disabled === true;
  const rank = book.standingOf(book.subjectsOf(name)).rankAt(seen);
  const all = findReasons(book, name, seen, isDisabled);
  const reasons = within === undefined ? all : all.map((reason) => reasonWithin(within, reason));
  const cause = isDisabled ? "it is disabled" : causeOf(rank, reasons);
  const may = rank === 0 ? "may do nothing on" : `is ${roleOf(rank)!} of`;
  return { role: roleOf(rank), reasons, summary: `${quote(name)} ${may} ${scopeText(scope)}: ${cause}` };
}

function findReasons(book: AccessBook, name: string, scope: Scope, isDisabled: boolean): AccessReason[] {
  const { state } = book;
  const subjects = isDisabled ? [name, ...state.groupsOf(name), EVERYONE] : book.subjectsOf(name);
  const chain = chainOf(scope);
  const innermost = chain.findLastIndex((step) => state.closed.has(scopeKey(step)));
  return chain.flatMap((step, depth) =>
    subjects.flatMap((subject) => {
      const binding = state.findBinding(subject, scopeKey(step));
      if (binding === undefined) return [];
      const isRootAdmin = binding.role === "admin" && scopeKey(step) === scopeKey(ROOT);
      const isCut = depth < innermost && !isRootAdmin;
      return [
        {
          binding,
          through: subject === name ? undefined : subject,
          counts: !isCut && !isDisabled,
          cutBy: isCut ? chain[innermost] : undefined,
        },
      ];
    }),
  );
}

function reasonWithin(namespace: string, reason: AccessReason): AccessReason {
  const known = (scope: Scope) => scopeWithin(namespace, scope) ?? { namespace };
  const { binding, cutBy } = reason;
  return { ...reason, binding: { ...binding, scope: known(binding.scope) }, cutBy: cutBy && known(cutBy) };
}

function causeOf(rank: Rank, reasons: readonly AccessReason[]): string {
  if (reasons.length === 0) return "no role is bound on it or around it";
  const decisive = reasons.find(({ binding, counts }) => counts && rankOf(binding.role) === rank);
  if (decisive !== undefined) {
    const { binding, through } = decisive;
    const via =
      through === undefined
        ? ""
        : through === EVERYONE
          ? " for everyone"
          : ` through group ${quote(through)}`;
    return `bound on ${scopeText(binding.scope)}${via}`;
  }
  return `${scopeText(reasons[0]!.cutBy!)} is closed, and nothing is bound on it or inside it`;
}
