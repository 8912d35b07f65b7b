import { describe, expect, it } from "vitest";
import { runCairn, useTerminal } from "./cairn.ts";

describe("cairn whoami", () => {
  const { cairn } = useTerminal();

  it("T1 says who the caller is", async () => {
    const { code, stdout } = await cairn(["whoami"]);
    expect(stdout).toContain("owner (owner) on http://127.0.0.1:");
    expect(code).toBe(0);
  });

  it("T1 prints one JSON document with --json", async () => {
    expect((await cairn(["whoami", "--json"])).json()).toMatchObject({
      name: "owner",
      kind: "owner",
      roles: [],
    });
  });

  it("T2 says how to mend it when no server answers", async () => {
    const { code, stderr } = await runCairn(["whoami", "--server", "127.0.0.1:1"], {
      env: { HOME: "/nowhere" },
    });
    expect(stderr).toContain("cannot reach http://127.0.0.1:1");
    expect(stderr).toContain("cairn serve");
    expect(code).toBe(5);
  });
});
