import { describe, expect, it } from "vitest";
import { closedPort } from "../testing/free-port.ts";
import { runCairn, useTerminal } from "../testing/cairn.ts";

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

  it("T2 suggests what to do when no server answers", async () => {
    const port = await closedPort();
    const { code, stderr } = await runCairn(["whoami", "--server", `127.0.0.1:${port}`], {
      env: { HOME: "/nowhere" },
    });
    expect(stderr).toContain(`cairn: cannot reach http://127.0.0.1:${port}: connect ECONNREFUSED`);
    expect(stderr).toContain("cairn serve");
    expect(code).toBe(5);
  });

  it("T2 explains why an address cannot be used", async () => {
    const { code, stderr } = await runCairn(["whoami", "--server", "127.0.0.1:1"], { env: {} });
    expect(stderr).toContain("cairn: cannot reach http://127.0.0.1:1: bad port");
    expect(code).toBe(5);
  });
});
