import { Ability, type MatchConditions, type RawRuleOf } from "@casl/ability";
import { PERMISSION_OF, ROLES, type Rank } from "../types/role.ts";
import { chainOf, scopeKey, type Scope } from "../types/scope.ts";

/**
 * The only user of @casl/ability. Its rules are read from the last to the first, and the first that
 * matches decides; so they are laid out from the root inwards, what closes a scope before what is bound
 * on it. A binding then wins over everything outside it, and a closed scope over every binding outside it:
 *
 *   allow viewer on ""  ·  deny on "a"  ·  allow writer on "a"
 *
 * lets a viewer of the root into everything but "a", and the writer of "a" into "a".
 *
 * It always checks a whole object with its ancestors, never a type: a check of a type would succeed as soon as a single
 * object of it is allowed.
 */
export interface AccessRules {
  /** Of one principal: its own, those of its groups and of everyone. */
  bindings: readonly { scope: Scope; rank: Rank }[];
  closed: readonly Scope[];
}

type Action = (typeof PERMISSION_OF)[keyof typeof PERMISSION_OF];
/** A scope to be checked. */
interface Place {
  /** Keys of the scope and of all around it. */
  chain: ReadonlySet<string>;
}
type Question = [Action, "place" | Place];
type ScopeRule = RawRuleOf<Ability<Question, MatchConditions>>;

const SUBJECT = "place";
const ACTIONS: readonly Action[] = ROLES.map((role) => PERMISSION_OF[role]);
const TOP_RANK = ACTIONS.length;
const ROOT_KEY = "";

/** The strongest role those rules give on the scope. Rules of other scopes have no effect. */
export function strongestRank(rules: AccessRules, scope: Scope): Rank {
  const ability = new Ability<Question, MatchConditions>(rawRules(rules), {
    conditionsMatcher: (isWithin) => isWithin,
    detectSubjectType: () => SUBJECT,
  });
  const place: Place = { chain: new Set(chainOf(scope).map(scopeKey)) };
  let rank = 0;
  while (rank < TOP_RANK && ability.can(ACTIONS[rank]!, place)) rank++;
  return rank as Rank;
}

function rawRules({ bindings, closed }: AccessRules): ScopeRule[] {
  const ordered: { order: number; rule: ScopeRule }[] = [];
  for (const scope of closed) {
    ordered.push({ order: 2 * depthOf(scope), rule: { ...ruleOn(scope, TOP_RANK), inverted: true } });
  }
  for (const { scope, rank } of bindings) {
    const isRootAdmin = rank === TOP_RANK && scopeKey(scope) === ROOT_KEY;
    // Administrators of the root may use closed scopes, too, so that nothing becomes inaccessible for good.
    const order = isRootAdmin ? Number.POSITIVE_INFINITY : 2 * depthOf(scope) + 1;
    ordered.push({ order, rule: ruleOn(scope, rank) });
  }
  return ordered.sort((a, b) => a.order - b.order).map(({ rule }) => rule);
}

function ruleOn(scope: Scope, rank: number): ScopeRule {
  const key = scopeKey(scope);
  const isWithin: MatchConditions = (place) => (place as Place).chain.has(key);
  return { action: ACTIONS.slice(0, rank), subject: SUBJECT, conditions: isWithin };
}

function depthOf(scope: Scope): number {
  return chainOf(scope).length;
}
