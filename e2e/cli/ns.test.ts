import { describe, expect, it } from "vitest";
import { useTerminal } from "./testing/cairn.ts";

describe("cairn ns", () => {
  const { cairn } = useTerminal();

  it("T9 reports when there are no namespaces", async () => {
    const { stdout, stderr, code } = await cairn(["ns"]);
    expect([stdout, code]).toEqual(["", 0]);
    expect(stderr).toContain("There are no namespaces yet.");
    expect((await cairn(["ns", "--json"])).json()).toEqual([]);
  });
});

describe("cairn ns with namespaces", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;

  it("T9 creates, describes and changes a namespace", async () => {
    const words = ["ns", "create", "langtech/asr", "--description", "speech", "--objective", "wer:min"];
    expect((await cairn(words)).stdout).toBe("Created langtech/asr.\n");
    expect(await cairn(words)).toMatchObject({ code: 1 });
    expect((await cairn(["ns", "describe", "langtech/asr"])).stdout).toMatch(
      /^langtech\/asr\n {2}speech\n {2}objective {2}min wer\n/,
    );
    await cairn(["ns", "describe", "langtech/asr", "--objective", "acc:max"]);
    expect((await cairn(["ns", "describe", "langtech/asr", "--json"])).json()).toMatchObject({
      description: "speech",
      objective: { metric: "acc", direction: "maximize" },
    });
    await cairn(["ns", "describe", "langtech/asr", "--no-objective"]);
    expect((await cairn(["ns", "describe", "langtech/asr", "--json"])).json()).toMatchObject({
      objective: null,
      description: "speech",
    });
    const wrong = await cairn(["ns", "describe", "langtech/asr", "--objective", "acc"]);
    expect(wrong.stderr).toContain("METRIC:max or METRIC:min");
    expect(wrong.code).toBe(2);
  });

  it("T9 draws the tree with the counts below, also where a name sorts between a parent and its child", async () => {
    await terminal.client.runs.createRun({ namespace: "langtech/asr/en", name: "r" });
    await terminal.client.runs.createRun({ namespace: "langtech", name: "s" });
    await terminal.client.runs.createRun({ namespace: "langtech-old", name: "t" });
    await cairn(["ns", "describe", "langtech/asr", "--objective", "wer:min"]);
    const { stdout } = await cairn(["ns"]);
    expect(stdout.replaceAll(/now|\d+s ago/g, "TIME").replaceAll(/ +$/gm, "")).toBe(
      [
        "langtech      2 runs  2 running  TIME",
        "└─ asr         1 run  1 running  TIME  min wer",
        "   └─ en       1 run  1 running  TIME",
        "langtech-old   1 run  1 running  TIME",
        "",
      ].join("\n"),
    );
  });

  it("T9 shows a subtree, and reports an unknown namespace", async () => {
    expect((await cairn(["ns", "langtech/asr"])).stdout).toMatch(/^langtech\/asr .*\n└─ en .*\n$/);
    expect(await cairn(["ns", "nope"])).toMatchObject({ code: 3 });
  });

  it("T71, N2, N18, N22: moves a namespace to the trash, brings it back, and destroys it once that is confirmed", async () => {
    await cairn(["ns", "create", "old/deep"]);
    await terminal.client.runs.createRun({ namespace: "old/deep", name: "r" });
    expect((await cairn(["ns", "rm", "old"])).stdout).toBe("Moved old to the trash.\n");
    expect((await cairn(["ns", "--json"])).stdout).not.toContain('"old');
    expect(await cairn(["ns", "old"])).toMatchObject({ code: 3 });
    expect((await cairn(["ns", "old", "--trashed"])).stdout).toMatch(
      /^old +(now|\d+s ago)\n└─ deep +(now|\d+s ago)\n$/,
    );
    // The runs of one in the trash are counted in the trash.
    const { stdout } = await cairn(["ns", "describe", "old/deep"]);
    expect(stdout).toContain("  in trash   ");
    expect(stdout).not.toContain("  runs  ");
    const child = await cairn(["ns", "restore", "old/deep"]);
    expect(child.code).not.toBe(0);
    expect(child.stderr).toContain('cannot restore namespace "old/deep": "old" is in the trash');
    expect((await cairn(["ns", "restore", "old"])).stdout).toBe("Restored old.\n");
    const live = await cairn(["ns", "purge", "old", "--yes"]);
    expect(live.stderr).toContain('cannot purge namespace "old": it is not in the trash');
    expect((await cairn(["ns", "rm", "old", "--json"])).json()).toEqual({ path: "old", removed: true });
    expect(await cairn(["ns", "purge", "missing"])).toMatchObject({ code: 3 });
    const asked = await cairn(["ns", "purge", "old"]);
    expect(asked).toMatchObject({ code: 2 });
    expect(asked.stderr).toContain('cannot ask "Permanently destroy old with everything in it, also 1 run?"');
    expect((await cairn(["ns", "purge", "old", "--yes"])).stdout).toBe("Destroyed old with 1 run.\n");
    expect(await cairn(["ns", "purge", "old", "--yes"])).toMatchObject({ code: 3 });
    await cairn(["ns", "create", "old"]);
    await cairn(["ns", "rm", "old"]);
    expect((await cairn(["ns", "purge", "old", "--yes", "--json"])).json()).toMatchObject({
      path: "old",
      namespaces: 1,
    });
    expect((await cairn(["ns", "--trashed"])).stderr).toContain("There is no namespace in the trash.");
  });

  it("T9 N5 shows and changes what may be captured", async () => {
    await cairn(["ns", "create", "labs/asr"]);
    const show = async (path: string, ...words: string[]) =>
      (await cairn(["ns", "capture", path, ...words])).stdout;
    expect(await show("labs/asr")).toBe("console  allowed\ncode     allowed\n");
    expect(await show("labs", "--forbid", "console", "code")).toBe(
      "console  forbidden in labs\ncode     forbidden in labs\n",
    );
    // What is above stays forbidden below.
    expect(await show("labs/asr", "--allow", "console")).toContain("console  forbidden in labs\n");
    expect(await show("labs", "--allow", "console")).toBe("console  allowed\ncode     forbidden in labs\n");
    expect((await cairn(["ns", "capture", "labs/asr", "--json"])).json()).toMatchObject({
      path: "labs/asr",
      forbiddenCapture: { console: null, code: "labs" },
    });
    expect((await cairn(["ns", "describe", "labs/asr"])).stdout).toContain(
      "  capture    code forbidden in labs\n",
    );
    expect(await cairn(["ns", "capture", "labs", "--forbid", "everything"])).toMatchObject({ code: 2 });
    const both = await cairn(["ns", "capture", "labs", "--forbid", "code", "--allow", "code"]);
    expect(both).toMatchObject({ code: 2 });
    expect(both.stderr).toContain('cannot both forbid and allow "code"');
    expect(await cairn(["ns", "capture", "nowhere"])).toMatchObject({ code: 3 });
  });

  it("T58 N10 shows and changes tags", async () => {
    await cairn(["ns", "create", "tagged"]);
    expect((await cairn(["ns", "tags", "tagged"])).stdout).toBe("");
    await cairn(["ns", "tags", "tagged", "team=speech", "owner=ada=eva"]);
    expect((await cairn(["ns", "tags", "tagged", "to=go", "--remove", "team"])).stdout).toBe(
      "owner  ada=eva\nto     go\n",
    );
    const shown = await cairn(["ns", "describe", "tagged"]);
    expect(shown.stdout).toContain("  tags       owner  ada=eva\n             to     go\n");
    const id = /^ {2}id {9}(\d+)$/m.exec(shown.stdout)?.[1];
    expect((await cairn(["ns", "tags", "tagged", "--json"])).json()).toMatchObject({
      id: Number(id),
      tags: { owner: "ada=eva", to: "go" },
    });
    expect(await cairn(["ns", "tags", "tagged", "team"])).toMatchObject({ code: 2 });
    expect(await cairn(["ns", "tags", "nowhere", "a=b"])).toMatchObject({ code: 3 });
  });

  it("T70, N11, N12, N26: moves a namespace with all that is below it", async () => {
    await cairn(["ns", "create", "before/deep/x"]);
    expect(await cairn(["ns", "mv", "before/deep", "after/all/deep"])).toMatchObject({
      code: 0,
      stdout: "Moved before/deep to after/all/deep.\n",
      stderr: "",
    });
    const { stdout } = await cairn(["ns", "describe", "after/all/deep/x"]);
    const id = Number(/^ {2}id {9}(\d+)$/m.exec(stdout)?.[1]);
    const moved = await cairn(["ns", "mv", "after/all/deep/x", "after/y", "--json"]);
    expect(moved.json()).toEqual({ id, from: "after/all/deep/x", path: "after/y" });
    expect((await cairn(["ns", "mv", "after/y", "after/y"])).stdout).toBe("after/y is there already.\n");
    const taken = await cairn(["ns", "mv", "after/y", "after/all"]);
    expect(taken.code).not.toBe(0);
    expect(taken.stderr).toContain('cannot move namespace "after/y" to "after/all": that exists already');
    const inside = await cairn(["ns", "mv", "after", "after/all/x"]);
    expect(inside.stderr).toContain("that is inside it");
    expect(await cairn(["ns", "mv", "nowhere", "after/z"])).toMatchObject({ code: 3 });
    expect(await cairn(["ns", "mv", "after"])).toMatchObject({ code: 2 });
    expect((await cairn(["ns", "mv", "--help"])).stdout).toContain(
      "cairn ns mv langtech/asr langtech/speech",
    );
  });

  it("T16 escapes control characters of a hostile description", async () => {
    await cairn(["ns", "create", "evil", "--description", "a\u001b[2Jb"]);
    const { stdout } = await cairn(["ns", "describe", "evil"]);
    expect(stdout).toContain("a\\u001b[2Jb");
    expect(stdout).not.toContain("\u001b");
  });
});
