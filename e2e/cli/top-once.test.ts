import { describe, expect, it } from "vitest";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { useTerminal } from "./testing/cairn.ts";

describe("cairn top without a terminal", () => {
  const terminal = useTerminal();

  it("T50 prints the running runs once without a terminal", async () => {
    const { run } = await terminal.client.runs.createRun({ name: "in a pipe\u001b[2J" });
    const { id } = run!;
    const steps = Array.from({ length: 10 }, (_, step) => BigInt(step));
    const series = [{ key: "loss", steps, values: steps.map((step) => 10 - Number(step)) }];
    await terminal.client.metrics.writeEnvelope({ run: { id }, series });
    const { code, stdout } = await terminal.cairn(["top"]);
    expect(stdout).toMatch(/● in a pipe\\u001b\[2J .* 9 .* loss 1 █/);
    expect(code).toBe(0);
    expect((await terminal.cairn(["top", "--json", "-m", "loss"])).json()).toMatchObject({
      totalCount: 1,
      runs: [{ id, name: "in a pipe\u001b[2J", step: 9, last: { loss: 1 } }],
    });
    expect((await terminal.cairn(["top", 'name = "other"'])).stdout).toBe("nothing is running\n");
  });

  it("T48, T50: the objective is shown also of a run with very many metrics", async () => {
    const objective = { metric: "zz/wer", direction: Direction.MINIMIZE };
    await terminal.client.namespaces.createNamespace({ path: "many", objective });
    const { run } = await terminal.client.runs.createRun({ name: "many", namespace: "many" });
    const keys = Array.from({ length: 600 }, (_, i) => `a/${i}`).concat("zz/wer");
    const series = keys.map((key, i) => ({ key, steps: [1n], values: [i] }));
    await terminal.client.metrics.writeEnvelope({ run: { id: run!.id }, series });
    expect((await terminal.cairn(["top", "-n", "many", "--json"])).json()).toMatchObject({
      runs: [{ name: "many", last: { "zz/wer": 600 } }],
    });
    const named = ["-m", "a/599", "-m", "a/598", "-m", "a/597"];
    expect((await terminal.cairn(["top", "-n", "many", "--json", ...named])).json()).toMatchObject({
      runs: [{ last: { "a/597": 597, "a/598": 598, "a/599": 599 } }],
    });
  });

  it("T2 refuses an invalid query before it uses the screen", async () => {
    const { code, stderr } = await terminal.cairn(["top", "status ="]);
    expect(stderr).toContain("column");
    expect(code).toBe(1);
    const ordered = await terminal.cairn(["top", "status is not null order by name"]);
    expect(ordered.stderr).toContain("the view sorts by itself");
    expect(ordered.code).toBe(2);
  });
});
