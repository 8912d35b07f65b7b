import { beforeAll, describe, expect, it } from "vitest";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { useTerminal } from "./testing/cairn.ts";

describe("cairn explore", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;
  beforeAll(async () => {
    const { client } = terminal;
    const objective = { metric: "loss", direction: Direction.MINIMIZE };
    await client.namespaces.createNamespace({ path: "lab", objective });
    for (let i = 0; i < 12; i++) {
      const params = { lr: String(i / 10), width: String((i * 7) % 12), kind: '"cnn"' };
      const { run } = await client.runs.createRun({
        namespace: "lab/x",
        name: `r${i}`,
        params,
        tags: { team: "asr" },
      });
      await client.metrics.writeEnvelope({
        run: { id: run!.id },
        series: [
          { key: "loss", steps: [1n], values: [i] },
          { key: "size", steps: [1n], values: [12 - i] },
        ],
      });
    }
  });

  it("T57 lists the keys of runs with their values", async () => {
    const { stdout, stderr, code } = await cairn(["explore", "keys", "-n", "lab"]);
    const lines = stdout.split("\n");
    expect(lines[0]).toMatch(/^KIND +KEY +RUNS +VALUES$/);
    expect(lines.find((line) => line.includes(" kind "))).toMatch(/^param +kind +12 +cnn \(12\)$/);
    expect(lines.find((line) => line.includes("team"))).toMatch(/^tag +team +12 +asr \(12\)$/);
    expect(lines.find((line) => line.includes("loss"))).toMatch(/^metric +loss +12/);
    expect([code, stderr]).toEqual([0, "of 12 runs\n"]);
    const json = (
      await cairn(["explore", "keys", "params.lr < 0.25", "--kind", "params", "--find", "L", "--json"])
    ).json();
    expect(json).toMatchObject({ runs: 3, keys: [{ kind: "param", key: "lr", varies: true }] });
    expect((await cairn(["explore", "keys", "--find", "nothing"])).stderr).toBe("No keys match.\n");
    expect((await cairn(["explore", "keys", "lr <"])).stderr).toContain("unknown field");
  });

  it("T57 shows the importance of params for the objective, or for a metric", async () => {
    const { stdout, code } = await cairn(["explore", "importance", "-n", "lab"]);
    expect(stdout).toMatch(/^metrics\.loss\.min {2}12 runs\n/);
    expect(stdout).toMatch(/\nlr +1 +█{20} +12 +rises with it\n/);
    expect(stdout).toContain("the same in all these runs: kind\n");
    expect(code).toBe(0);
    const json = (
      await cairn(["explore", "importance", "--objective", "metrics.size.last", "--json"])
    ).json();
    expect(json).toMatchObject({
      objective: "metrics.size.last",
      runs: 12,
      params: [{ key: "lr", strength: 1, rho: -1 }, {}],
    });
    const none = await cairn(["explore", "importance"]);
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none.stderr).toContain("name a metric");
  });

  it("T57 finds the Pareto frontier", async () => {
    const words = ["explore", "frontier", "metrics.loss.min:min", "metrics.size.last:max", "-n", "lab"];
    const { stdout, stderr } = await cairn(words);
    expect(stdout).toMatch(/^NAME +metrics\.loss\.min +metrics\.size\.last +NAMESPACE\nr0 +0 +12 +lab\/x\n$/);
    expect(stderr).toBe("1 run of 12\n");
    const json = (
      await cairn([...words.slice(0, 3), "metrics.size.last:min", "--where", "params.lr < 0.25", "--json"])
    ).json();
    expect(json).toMatchObject({
      runs: [{ name: "r0", values: [0, 12] }, { name: "r1" }, { name: "r2" }],
      compared: 3,
    });
    expect(await cairn(["explore", "frontier", "metrics.loss"])).toMatchObject({ code: 2 });
    expect((await cairn(["explore", "frontier", "name:min", "duration:max"])).stderr).toContain(
      "does not name a number",
    );
  });

  it("T9, M2: the tree of namespaces names the best run", async () => {
    expect((await cairn(["ns"])).stdout).toMatch(
      /lab +12 runs .* min loss {2}0 by r0\n└─ x +12 runs .* 0 by r0\n$/,
    );
    expect((await cairn(["ns", "describe", "lab/x"])).stdout).toContain(
      "objective  min loss  (of lab)\n  best       0 by r0\n",
    );
  });
});
