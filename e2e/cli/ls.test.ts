import { beforeAll, describe, expect, it } from "vitest";
import { useTerminal } from "./testing/cairn.ts";
import { createRun, makeSampleRuns, writeEnvelope, type SampleRuns } from "./testing/sample-runs.ts";

describe("cairn ls", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;
  let sample: SampleRuns;
  beforeAll(async () => {
    sample = await makeSampleRuns(terminal.client);
  });

  it("T20 chooses columns in which the runs differ", async () => {
    const { code, stdout, stderr } = await cairn(["ls"], { env: { COLUMNS: "160" } });
    const [head, ...rows] = stdout.trimEnd().split("\n");
    expect(head?.split(/ +/).slice(0, 6)).toEqual([
      "NAME",
      "STATUS",
      "AGE",
      "TOOK",
      "NAMESPACE",
      "val/acc.max",
    ]);
    expect(head).toMatch(/ lr +optim\.name +warmup +width$/);
    expect(rows.map((row) => row.split(" ")[0])).toEqual(["diverged", "wider", "tuned", "base"]);
    expect(rows[2]).toMatch(/^tuned +✓ finished .* langtech\/asr +0\.9088 .* 0\.01 /);
    expect(stderr).toBe("4 runs\n");
    expect(code).toBe(0);
  });

  it("T20 leaves out the namespace if it is the same, and adds the fields of the query", async () => {
    const { stdout } = await cairn(["ls", 'tags.team = "asr" and metrics.train/loss.min < 1']);
    expect(stdout.split("\n")[0]).toMatch(/^NAME +STATUS +AGE +TOOK +team +train\/loss\.min +val\/acc\.max /);
  });

  it.each([40, 60, 80, 160])("T20 fits into %i columns", async (columns) => {
    const { stdout } = await cairn(["ls"], { env: { COLUMNS: String(columns) } });
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(Math.max(columns, 50));
  });

  it("T21 shows the requested columns, order and number", async () => {
    const { stdout, stderr } = await cairn([
      "ls",
      "-n",
      "langtech",
      "--columns",
      "name,params.optim.betas.1,metrics.train/loss.last,tags.team",
      "--sort",
      "metrics.val/acc.max:desc",
      "--limit",
      "2",
    ]);
    expect(stdout.split("\n").map((line) => line.split(/ +/))).toEqual([
      ["NAME", "optim.betas.1", "train/loss.last", "team"],
      ["tuned", "0.999", "0.1038", "asr"],
      ["wider", "0.999", "0.1338", "mt"],
      [""],
    ]);
    expect(stderr).toBe("2 of 4 runs; --limit shows more\n");
  });

  it("T21 points at the mistake in a query", async () => {
    const { code, stderr } = await cairn(["ls", 'params.lr > 0.1 adn status = "failed"']);
    expect(stderr).toContain('  params.lr > 0.1 adn status = "failed"\n                  ^');
    expect(code).toBe(1);
  });

  it("T21 refuses two orders, an unknown column and an unknown namespace", async () => {
    expect(await cairn(["ls", "order by name", "--sort", "name"])).toMatchObject({ code: 2, stdout: "" });
    expect(await cairn(["ls", "--sort", ","])).toMatchObject({ code: 2, stdout: "" });
    const wrong = await cairn(["ls", "--columns", "name,staus"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toBe(
      `cairn: cannot parse field: unknown field "staus" (did you mean status?) at column 1
  staus
  ^
  columns are age, id, name, namespace, status, notes, alias, created, started, ended, updated, duration, creator, user, host, study, initial_state, training_data, test_data, feature_pipeline, logs_location, repository, commit, branch, params.KEY, tags.KEY and metrics.KEY.STAT
`,
    );
    expect(await cairn(["ls", "-n", "nowhere"])).toMatchObject({ code: 3, stdout: "" });
    expect(await cairn(["ls", 'name = "nobody"'])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "no runs match\n",
    });
  });

  it("T21 looks into the trash", async () => {
    const { id } = await createRun(terminal.client, { namespace: "bin", name: "thrown" });
    await terminal.client.runs.deleteRun({ run: { id } });
    expect((await cairn(["ls", "-n", "bin"])).stdout).toBe("");
    expect((await cairn(["ls", "-n", "bin", "--trash"])).stdout).toContain("thrown");
  });

  it("T1 prints all runs with --json", async () => {
    const { runs, totalCount } = (await cairn(["ls", "--json", "-n", "langtech"])).json() as {
      runs: { id: string }[];
      totalCount: number;
    };
    expect(totalCount).toBe(4);
    expect(runs[2]).toMatchObject({
      id: sample.tuned.id,
      params: { optim: { name: "adam" } },
      tags: { team: "asr" },
    });
  });

  it("T22, S20: writes every digit and no formula", async () => {
    const run = await createRun(terminal.client, {
      namespace: "csv",
      name: "=cmd|' /C calc'!A0",
      params: { big: "9007199254740993", cold: "-1.5", text: '"@SUM(1)\\n2"' },
      tags: { "=1": "+1+1" },
    });
    const value = 0.1 + 0.2;
    await writeEnvelope(terminal.client, run, { series: [{ key: "m", steps: [1n], values: [value] }] });
    const { stdout } = await cairn(["ls", "metrics.m.last > 0", "-n", "csv", "--csv"]);
    const [head, row] = stdout.split(/\n(?!2)/);
    expect(head).toMatch(
      /^id,name,.*,metrics\.m\.last,params\.big,params\.cold,params\.text,"?tags\.""=1"""?$/,
    );
    expect(row).toContain(`,'=cmd|' /C calc'!A0,`);
    expect(row).toContain(`,${value},9007199254740993,-1.5,"'@SUM(1)\n2",'+1+1`);
  });

  it("T16 shows untrusted names without letting them control the terminal", async () => {
    await createRun(terminal.client, { namespace: "evil", name: "\u001b]0;x\u0007\u001b[2Jname\nother" });
    const { stdout } = await cairn(["ls", "-n", "evil"]);
    expect(stdout).toContain("\\u001b]0;x\\u0007\\u001b[2Jname\\nother");
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
  });

  it("T23 refuses to watch without a terminal", async () => {
    expect(await cairn(["ls", "--watch"])).toMatchObject({ code: 2, stdout: "" });
  });
});
