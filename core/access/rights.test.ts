import { describe, expect, it } from "vitest";
import { ListAccess } from "#store/contract/list-access.ts";
import { dose, seed, tally } from "../../tools/dose.ts";
import type { AccessContent } from "../ports/access-store.ts";
import { strongestRank } from "./ability.ts";
import { AccessBook } from "./book.ts";
import { explainAccess } from "./explain.ts";
import { PERMISSIONS } from "../types/permission.ts";
import { rankOf } from "../types/role.ts";
import { maskReadsNamespace, maskReadsRun, type Scope } from "../types/scope.ts";
import { randomFrom, randomTree, SCOPES, TOKENS } from "./testing/random-tree.ts";
import { walk } from "./testing/walk.ts";
import { TokenRights } from "./tokens/token-rights.ts";

const TREES = dose(4_000, 100_000);
const clock = { nowUs: () => 1 };

/** `check` on each of many random trees; a failure names the tree. */
async function onTrees(
  count: number,
  check: (content: AccessContent, book: AccessBook, random: (below: number) => number) => void,
): Promise<void> {
  const first = (seed * 100_003) % 2 ** 31;
  for (let tree = first; tree < first + count; tree++) {
    const random = randomFrom(tree);
    const content = randomTree(random);
    const book = await AccessBook.open(new ListAccess(content), clock);
    try {
      check(content, book, random);
    } catch (thrown) {
      throw new Error(`with tree ${tree}, of CAIRN_SEED ${seed}`, { cause: thrown });
    } finally {
      book.close();
    }
  }
  tally("trees", count);
}

/** The strongest permission there is, by asking for each. */
function asked(rights: TokenRights, scope: Scope): number {
  const allowed = PERMISSIONS.map((permission) => rights.may(permission, scope));
  const count = allowed.indexOf(false);
  // What is allowed is allowed from the weakest on, without holes.
  if (count !== -1 && allowed.slice(count).includes(true)) throw new Error(`holes: ${allowed.join()}`);
  return (count === -1 ? PERMISSIONS.length : count) - 1;
}

describe("rights", () => {
  it("A5, A6, A7: answer as a walk from the scope outwards does, on very many random trees", async () => {
    let allowed = 0;
    let refused = 0;
    await onTrees(TREES, (content, book, random) => {
      for (const token of TOKENS) {
        const rights = new TokenRights(book, token);
        for (let question = 0; question < 8; question++) {
          const scope = SCOPES[random(SCOPES.length)]!;
          const rank = asked(rights, scope);
          const expected = walk(content, token, scope);
          if (rank !== expected) expect({ token, scope, rank }).toEqual({ token, scope, rank: expected });
          if (rank === 0) refused++;
          else allowed++;
        }
      }
    });
    // Trees on which every caller may do everything, or nothing, would prove little.
    expect(allowed).toBeGreaterThan(TREES);
    expect(refused).toBeGreaterThan(TREES);
  }, 120_000);

  it("A12: a mask and mayAnywhere say what the rights say, everywhere", async () => {
    await onTrees(dose(500, 10_000), (content, book) => {
      for (const token of TOKENS) {
        const rights = new TokenRights(book, token);
        const mask = rights.readable();
        const wrong = SCOPES.filter(({ namespace, runId, artifact }) => {
          if (artifact !== undefined) return false;
          const reads =
            mask === undefined ||
            (runId === undefined
              ? maskReadsNamespace(mask, namespace)
              : maskReadsRun(mask, { id: runId, namespace }));
          const scope = { namespace, ...(runId !== undefined && { runId }) };
          return reads !== walk(content, token, scope) > 0;
        });
        expect(wrong).toEqual([]);
        const strongest = Math.max(...SCOPES.map((scope) => walk(content, token, scope)));
        const anywhere = PERMISSIONS.map((permission) => rights.mayAnywhere(permission));
        expect(anywhere).toEqual(PERMISSIONS.map((_, needed) => needed <= strongest));
      }
    });
  });

  it("A12, M14: of artifacts in readable runs those are hidden that the rights say may not be read", async () => {
    let hiddenCount = 0;
    await onTrees(dose(500, 10_000), (content, book) => {
      for (const token of TOKENS) {
        const rights = new TokenRights(book, token);
        const hidden = rights.hiddenArtifacts();
        const wrong = SCOPES.filter(({ namespace, runId, artifact }) => {
          if (runId === undefined || artifact === undefined) return false;
          if (walk(content, token, { namespace, runId }) === 0) return false;
          const isHidden = hidden.get(runId)?.includes(artifact) === true;
          if (isHidden) hiddenCount++;
          return isHidden === walk(content, token, { namespace, runId, artifact }) > 0;
        });
        expect(wrong).toEqual([]);
      }
    });
    expect(hiddenCount).toBeGreaterThan(100);
  });

  it("A51: bindings and closures on a run count under the old and the new namespace, before the move is known", async () => {
    let shut = 0;
    await onTrees(dose(500, 10_000), (content, book, random) => {
      const { namespace } = SCOPES[random(SCOPES.length)]!;
      const moved = (scope: Scope): Scope => (scope.runId === undefined ? scope : { ...scope, namespace });
      const after: AccessContent = {
        ...content,
        bindings: content.bindings.map((binding) => ({ ...binding, scope: moved(binding.scope) })),
        closed: content.closed.map(moved),
      };
      for (const token of TOKENS) {
        const rights = new TokenRights(book, token);
        const mask = rights.readable();
        for (const scope of SCOPES.filter(({ runId }) => runId !== undefined)) {
          const rank = walk(after, token, moved(scope));
          expect(asked(rights, moved(scope))).toBe(rank);
          if (scope.artifact !== undefined || !content.closed.includes(scope)) continue;
          const reads = mask === undefined || maskReadsRun(mask, { id: scope.runId!, namespace });
          if (reads) expect(Math.max(rank, walk(content, token, scope))).toBeGreaterThan(0);
          else shut++;
        }
      }
    });
    expect(shut).toBeGreaterThan(0);
  });

  it("A19: an explanation has the role that rights have, and a reason for it", async () => {
    await onTrees(dose(1_000, 5_000), (content, book, random) => {
      const scope = SCOPES[random(SCOPES.length)]!;
      // The first token has no bounds of its own.
      const { role, reasons, summary } = explainAccess(book, "u0", scope);
      expect(rankOf(role)).toBe(walk(content, "t0", scope));
      const counting = reasons.filter(({ counts }) => counts).map(({ binding }) => rankOf(binding.role));
      expect(Math.max(0, ...counting)).toBe(rankOf(role));
      for (const { counts, cutBy, binding } of reasons) {
        const isDisabled = content.principals.some(({ name, disabled }) => name === "u0" && disabled);
        expect(counts).toBe(!isDisabled && cutBy === undefined);
        if (cutBy !== undefined) expect(content.closed).toContainEqual(cutBy);
        expect(content.bindings).toContainEqual(binding);
      }
      expect(summary).toMatch(/^"u0" (may do nothing on|is \w+ of) .*: .+/);
    });
  });

  it("A5: rules of places elsewhere, and their order, change no answer", async () => {
    await onTrees(dose(1_000, 5_000), (content, _, random) => {
      const bindings = content.bindings
        .filter(({ principal }) => principal === "everyone")
        .map(({ scope, role }) => ({ scope, rank: rankOf(role) }));
      const everyone = {
        ...content,
        bindings: content.bindings.filter(({ principal }) => principal === "everyone"),
        principals: [],
      };
      const scope = SCOPES[random(SCOPES.length)]!;
      const expected = walk(everyone, "t0", scope);
      const { closed } = content;
      expect(strongestRank({ bindings, closed }, scope)).toBe(expected);
      expect(strongestRank({ bindings: bindings.toReversed(), closed: closed.toReversed() }, scope)).toBe(
        expected,
      );
    });
  });
});
