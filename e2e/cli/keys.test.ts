import { describe, expect, it } from "vitest";
import { useTerminal } from "./testing/cairn.ts";
import { makeSampleRuns } from "./testing/sample-runs.ts";

describe("cairn keys", () => {
  const terminal = useTerminal(["--data", "memory:"]);
  const { cairn } = terminal;
  const describeKey = (...words: string[]) => cairn(["keys", "describe", ...words]);

  it("T250 describes a metric field by field, and keeps what is not named", async () => {
    await terminal.client.namespaces.createNamespace({ path: "lab/vision" });
    const range = ["--min", "0", "--max", "1", "--picture", "accuracy"];
    const made = await describeKey("val/acc", "-n", "lab/vision", "--direction", "max", ...range);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    expect(made.stdout).toBe(
      "val/acc  in lab/vision\n  better   higher is better\n  range    0 … 1\n  picture  accuracy\n",
    );
    await describeKey(
      "val/acc",
      "-n",
      "lab/vision",
      "--unit",
      "%",
      "--description",
      "of the \u001b[31mtest set",
    );
    const { keys } = await terminal.client.metrics.listKeys({ namespace: "lab/vision" });
    expect(keys).toMatchObject([{ key: "val/acc", unit: "%", min: 0, max: 1, direction: 2, picture: 2 }]);
    const shown = await describeKey("val/acc", "-n", "lab/vision");
    expect(shown.stdout).toContain("of the ");
    expect(shown.stdout).not.toContain("\u001b");
    const cleared = await describeKey("val/acc", "-n", "lab/vision", "--max", "none", "--unit", "", "--json");
    expect(cleared.json()).toMatchObject({
      key: "val/acc",
      unit: null,
      min: 0,
      max: null,
      direction: "maximize",
    });
  });

  it("T250 a namespace below starts from what holds above it", async () => {
    await terminal.client.namespaces.createNamespace({ path: "team/a" });
    await describeKey("loss", "-n", "team", "--direction", "min", "--unit", "nats");
    await describeKey("loss", "-n", "team/a", "--min", "0");
    const { stdout } = await cairn(["keys", "ls", "-n", "team/a"]);
    expect(stdout).toMatch(
      /^metric +unit +better +range +described in\nloss +nats +lower is better +0 … +team\/a\n$/,
    );
  });

  it("T250 a namespace without descriptions says so, an unknown one is an error, as is an invalid number", async () => {
    await terminal.client.namespaces.createNamespace({ path: "empty" });
    const none = await cairn(["keys", "ls", "-n", "empty"]);
    expect(none).toMatchObject({ code: 0, stdout: "" });
    expect(none.stderr).toContain("cairn keys describe");
    expect(await cairn(["keys", "ls", "-n", "nowhere"])).toMatchObject({ code: 3 });
    expect(await cairn(["keys", "ls", "-n", "empty", "--json"])).toMatchObject({ code: 0, stdout: "[]\n" });
    const wrong = await describeKey("loss", "-n", "empty", "--min", "low");
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toContain("expected a number, or none");
    const unnamed = await describeKey("loss");
    expect(unnamed).toMatchObject({ code: 2 });
    expect(unnamed.stderr).toContain("--namespace");
  });

  it("T250 T15 completes metrics of the namespace, and the words of the options", async () => {
    await makeSampleRuns(terminal.client);
    const complete = async (...words: string[]) =>
      (await cairn(["__complete", "words", ...words])).stdout.split("\n").map((line) => line.split("\t")[0]);
    expect(await complete("keys", "describe", "-n", "langtech/asr", "train/")).toContain("train/loss");
    expect(await complete("keys", "describe", "loss", "--picture", "conf")).toContain("confusion-matrix");
  });
});
