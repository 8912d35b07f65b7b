import { rmSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { makeFolder } from "#server/testing/servers.ts";
import { useTerminal } from "./testing/cairn.ts";

const data = makeFolder();
afterAll(() => rmSync(data, { recursive: true, force: true }));

describe("cairn backup, cairn restore-backup", () => {
  const terminal = useTerminal(["--data", data]);
  const { cairn } = terminal;
  const runNames = async () =>
    (await terminal.client.runs.searchRuns({})).runs.map(({ name }) => name).sort();

  it("T12 makes, lists and restores a backup, and saves the replaced state", async () => {
    const nothing = await cairn(["backup", "--list"]);
    expect(nothing.stderr).toContain("There are no backups.");
    await terminal.client.runs.createRun({ namespace: "b", name: "before" });
    const made = await cairn(["backup", "before-upgrade"]);
    expect(made).toMatchObject({ code: 0 });
    expect(made.stdout).toMatch(/^Wrote backup before-upgrade \([\d.]+ [KM]iB\)\.\n$/);
    await terminal.client.runs.createRun({ namespace: "b", name: "after" });
    expect((await cairn(["backup", "--list"])).stdout).toMatch(/before-upgrade +[\d.]+ [KM]iB/);

    const refused = await cairn(["restore-backup", "before-upgrade"]);
    expect(refused).toMatchObject({ code: 2 });
    expect(await runNames()).toEqual(["after", "before"]);
    const { code, stdout } = await cairn(["restore-backup", "before-upgrade", "--yes"]);
    expect(code).toBe(0);
    const kept = /The replaced state is saved as (before-restore-\S+)\.\n$/.exec(stdout)?.[1];
    expect(await runNames()).toEqual(["before"]);
    const back = await cairn(["restore-backup", kept!, "--yes", "--json"]);
    expect(back.json()).toMatchObject({ restored: { name: kept } });
    expect(await runNames()).toEqual(["after", "before"]);
  });

  it("T12 reports an unknown backup, and suggests a similar one", async () => {
    const { code, stderr } = await cairn(["restore-backup", "before-upgrad", "--yes"]);
    expect(code).toBe(3);
    expect(stderr).toContain("did you mean before-upgrade?");
  });

  it("T2 refuses an invalid name", async () => {
    expect(await cairn(["backup", "../x"])).toMatchObject({ code: 1 });
    expect(await cairn(["backup", "x", "--list"])).toMatchObject({ code: 2 });
  });
});
