import { beforeAll, describe, expect, it } from "vitest";
import { PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { useTerminal } from "./testing/cairn.ts";
import { createRun, makeSampleRuns, type SampleRuns } from "./testing/sample-runs.ts";

describe("cairn lineage", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;
  let sample: SampleRuns;
  beforeAll(async () => {
    sample = await makeSampleRuns(terminal.client);
  });
  const short = (name: keyof SampleRuns) => sample[name].id.slice(0, 16);

  it("T28 draws the sources and the descendants of a run", async () => {
    const { code, stdout } = await cairn(["lineage", "tuned"]);
    expect(stdout).toBe(`tuned  ✓ finished  langtech/asr  ${short("tuned")}
├─ sources
│  ├─ training data ← s3://data/librispeech (external)
│  └─ model.pt ← base  ✓ finished  ${short("base")}
└─ children
   └─ wider  ● running  ${short("wider")}
`);
    expect(code).toBe(0);
  });

  it("T28 shows one side, one artifact and a depth", async () => {
    expect((await cairn(["lineage", "wider", "--sources"])).stdout.split("\n")).toHaveLength(6);
    expect((await cairn(["lineage", "base", "--sources"])).stdout).toContain("no links");
    const near = await cairn(["lineage", "wider", "--depth", "1"]);
    expect(near.stdout).not.toContain("base");
    expect(near.stderr).toContain("raise --depth");
    const through = await cairn(["lineage", "tuned", "--artifact", "model.pt"]);
    expect(through.stdout).toContain("base");
    expect(through.stdout).not.toContain("librispeech");
    expect(await cairn(["lineage", "tuned", "--sources", "--children"])).toMatchObject({ code: 2 });
  });

  it("T258 names the role of what provenance names, as a tree, a graph and JSON", async () => {
    const { client } = terminal;
    const source = await createRun(client, { name: "pretrained", aliases: ["checkpoint-9"] });
    await createRun(client, {
      name: "sourced",
      provenance: {
        trainingData: ["s3://data/c4@v3"],
        testData: ["s3://data/dev"],
        initialState: source.id,
        featurePipeline: "git@example.org:f.git@4f2a91c",
      },
    });
    const { stdout } = await cairn(["lineage", "sourced"]);
    for (const line of [
      "training data ← s3://data/c4@v3 (external)",
      "test data ← s3://data/dev (external)",
      "initial state ← pretrained",
      "feature pipeline ← git@example.org:f.git@4f2a91c (external)",
    ]) {
      expect(stdout).toContain(line);
    }
    expect((await cairn(["lineage", "pretrained"])).stdout).toContain("initial state → sourced");
    expect((await cairn(["lineage", "sourced", "--dot"])).stdout).toContain('[label="training data"]');
    const { edges } = (await cairn(["lineage", "sourced", "--json"])).json() as { edges: { role: string }[] };
    expect(edges.map(({ role }) => role).sort()).toEqual([
      "feature pipeline",
      "initial state",
      "test data",
      "training data",
    ]);
  });

  it("T28 marks a cycle", async () => {
    const { client } = terminal;
    const [a, b] = [await createRun(client, { name: "hen" }), await createRun(client, { name: "egg" })];
    await client.lineage.addSource({ run: { id: a.id }, source: { id: b.id } });
    await client.lineage.addSource({ run: { id: b.id }, source: { id: a.id } });
    const { stdout } = await cairn(["lineage", "hen"]);
    expect(stdout.match(/hen .* ↺ a cycle/g)).toHaveLength(2);
  });

  it("T28 prints a graph for Graphviz and as JSON", async () => {
    const { stdout } = await cairn(["lineage", "tuned", "--dot"]);
    expect(stdout).toMatch(/^digraph lineage \{\n[^]*n2 -> n0 \[label="model\.pt"\];\n[^]*\}\n$/);
    expect((await cairn(["lineage", "tuned", "--json"])).json()).toMatchObject({
      nodes: [{ name: "tuned" }, { externalId: "s3://data/librispeech" }, { name: "base", distance: -1 }, {}],
      edges: [
        { source: 1, child: 0, role: "training data" },
        { source: 2, child: 0, artifact: "model.pt" },
        { source: 1, child: 0 },
        { child: 3 },
      ],
      truncated: false,
    });
  });
});

describe("cairn lineage for a guest", () => {
  const terminal = useTerminal(["--data", "memory:", "--auth"]);

  it("T28 shows runs that the caller may not see as hidden, in every command", async () => {
    const { client } = terminal;
    const secret = await createRun(client, { namespace: "closed", name: "classified" });
    const open = await createRun(client, { namespace: "open", name: "public" });
    await client.lineage.addSource({ run: { id: open.id }, source: { id: secret.id, artifact: "weights" } });
    await client.access.createPrincipal({ name: "guest", kind: PrincipalKind.SERVICE });
    await client.access.bindRole({ principal: "guest", role: Role.VIEWER, scope: { namespace: "open" } });
    const { secret: token } = await client.access.createToken({ principal: "guest", name: "t" });
    const env = { CAIRN_TOKEN: token };
    const { stdout } = await terminal.cairn(["lineage", "public"], { env });
    expect(stdout).toBe(`public  ● running  open  ${open.id.slice(0, 16)}\n└─ sources\n   └─ hidden\n`);
    expect((await terminal.cairn(["show", "public"], { env })).stdout).toContain("\nSources\n  hidden\n");
    const list = await terminal.cairn(["ls"], { env });
    expect(list.stdout).toContain("public");
    expect(list.stdout).not.toContain("classified");
    expect(await terminal.cairn(["show", secret.id], { env })).toMatchObject({ code: 3, stdout: "" });
    expect(await terminal.cairn(["artifacts", "put", "public", "s3://x/y"], { env })).toMatchObject({
      code: 1,
    });
  });
});
