/** What a check of rights costs, at 10,000 namespaces of which every tenth is closed: `node core/access/rights.bench.ts`. */
import { ListAccess } from "#store/contract/list-access.ts";
import type { AccessContent, Binding } from "../ports/access-store.ts";
import { AccessBook } from "./book.ts";
import { TokenRights } from "./tokens/token-rights.ts";

const NAMESPACES = 10_000;
const bound = (principal: string, namespace: string): Binding => ({
  principal,
  role: "writer",
  scope: { namespace },
  createdUs: 0,
  createdBy: "",
});
const paths = Array.from({ length: NAMESPACES }, (_, i) => `team-${i % 100}/project-${i}`);
const content: AccessContent = {
  principals: [
    { name: "ada", kind: "user", displayName: "", disabled: false, createdUs: 0, password: undefined },
  ],
  members: [],
  bindings: [
    bound("everyone", ""),
    ...paths.filter((_, i) => i % 20 === 0).map((path) => bound("ada", path)),
  ],
  closed: paths.filter((_, i) => i % 10 === 0).map((namespace) => ({ namespace })),
  tokens: [
    {
      id: "t",
      kind: "token",
      parent: undefined,
      passwordOf: undefined,
      principal: "ada",
      name: "",
      hash: "",
      pageHash: undefined,
      role: undefined,
      namespaces: [],
      createdUs: 0,
      expiresUs: 2 ** 53,
      lastUsedUs: undefined,
    },
  ],
};
const clock = { nowUs: () => Math.floor(performance.now() * 1000) };
const book = await AccessBook.open(new ListAccess(content), clock);
const rights = new TokenRights(book, "t");
const scopes = paths.slice(0, 1_000).map((namespace, i) => ({ namespace, runId: String(i) }));
const ROUNDS = 15;

/** Microseconds for each of `count`, the best of several rounds: the machine is rarely ours alone. */
function best(count: number, work: (at: number) => void): string {
  let bestMs = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    for (let at = 0; at < count; at++) work(at);
    bestMs = Math.min(bestMs, performance.now() - begin);
  }
  return `${((bestMs * 1000) / count).toFixed(2).padStart(10)} µs`;
}

console.log(
  "may, asked before     ",
  best(100_000, (at) => rights.may("write", scopes[at % scopes.length]!)),
);
// Far more namespaces than answers are kept for.
console.log(
  "may, not asked before ",
  best(NAMESPACES, (at) => rights.may("write", { namespace: paths[at]! })),
);
let maskMs = Infinity;
for (let round = 0; round < ROUNDS; round++) {
  const [principal] = content.principals;
  const changes = [{ do: "put-principal" as const, principal: principal! }];
  await book.change(() => ({ changes, audit: [], result: undefined }));
  const begin = performance.now();
  rights.readable();
  maskMs = Math.min(maskMs, performance.now() - begin);
}
console.log("readable, after change", `${(maskMs * 1000).toFixed(2).padStart(10)} µs`);
book.close();
