import { rmSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { greeting } from "../greeting.ts";
import { makeFolder, startServer } from "../testing/servers.ts";

const JSON_TYPE = { "content-type": "application/json" };

function folderForTest(): string {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Starts on the folder, does something, stops; returns what the start said. */
async function visit(
  argv: readonly string[],
  folder: string,
  work: (
    post: (method: string, body: object) => Promise<Record<string, string>>,
  ) => Promise<void> = async () => {},
): Promise<string> {
  const server = await startServer([...argv, "--data", folder]);
  try {
    const said = greeting(server, { host: "127.0.0.1", data: folder, insecure: argv.includes("--insecure") });
    await work(async (method, body) => {
      const answer = await fetch(`http://127.0.0.1:${server.listening.port}/cairn.v1.${method}`, {
        method: "POST",
        headers: JSON_TYPE,
        body: JSON.stringify(body),
      });
      expect(answer.status, method).toBe(200);
      return (await answer.json()) as Record<string, string>;
    });
    return said;
  } finally {
    await server.close();
  }
}

describe("S26: the first start with --auth", () => {
  it("S26 A31 lists who administers the root already, once, and how to disable one", async () => {
    const folder = folderForTest();
    const root = { namespace: "" };
    expect(
      await visit([], folder, async (post) => {
        for (const name of ["ada", "mallory", "idle"]) {
          await post("AccessService/CreatePrincipal", { name, kind: "PRINCIPAL_KIND_USER" });
        }
        await post("AccessService/CreatePrincipal", { name: "robot", kind: "PRINCIPAL_KIND_SERVICE" });
        await post("AccessService/CreatePrincipal", { name: "ops", kind: "PRINCIPAL_KIND_GROUP" });
        await post("AccessService/AddMember", { group: "ops", member: "robot" });
        for (const principal of ["mallory", "ops", "idle"]) {
          await post("AccessService/BindRole", { principal, role: "ROLE_ADMIN", scope: root });
        }
        await post("AccessService/BindRole", { principal: "ada", role: "ROLE_MAINTAINER", scope: root });
        await post("AccessService/CreateToken", { principal: "mallory", days: 3_650 });
        await post("AccessService/CreateToken", { principal: "mallory", days: 1 });
        await post("AccessService/UpdatePrincipal", { name: "idle", disabled: true });
      }),
    ).not.toContain("administer");

    const said = await visit(["--auth"], folder);
    const day = String.raw`(\d{4})-\d\d-\d\d`;
    const [, made, ends] = new RegExp(
      `^  mallory \\(user\\), made on ${day}: 2 tokens, the last expires on ${day}$`,
      "m",
    ).exec(said)!;
    expect([9, 10]).toContain(Number(ends) - Number(made));
    expect(said).toMatch(
      new RegExp(`^  robot \\(service, through group ops\\), made on ${day}: 0 tokens$`, "m"),
    );
    expect(said).not.toMatch(/\b(ada|idle)\b/);
    expect(said).toContain("cairn access user disable NAME");
    expect(said).not.toContain("Admin token");

    for (const argv of [["--auth"], ["--host", "0.0.0.0"]]) {
      expect(await visit(argv, folder), argv.join(" ")).not.toContain("mallory");
    }
  });

  it("S26 A31 is repeated after a caller has acted as the owner, also on another address", async () => {
    const folder = folderForTest();
    // The first admin is made and shown by this start: there is no other to list.
    expect(await visit(["--auth"], folder)).toMatch(/Admin token, shown only once: cairn_/);
    expect(await visit(["--auth"], folder)).not.toContain("administer");
    await visit([], folder, async (post) => {
      await post("AccessService/CreateToken", { principal: "admin", days: 3_650 });
    });
    const said = await visit(["--host", "0.0.0.0"], folder);
    expect(said).toContain("  admin (user), made on ");
    expect(said).toMatch(/: 2 tokens, the last expires on \d{4}-/);
    expect(await visit(["--host", "0.0.0.0"], folder)).not.toContain("administer");
  });

  it("S26 A31 is in the audit, which stays intact", async () => {
    const folder = folderForTest();
    await visit([], folder, async (post) => {
      await post("AccessService/CreatePrincipal", { name: "ada", kind: "PRINCIPAL_KIND_USER" });
      await post("AccessService/BindRole", {
        principal: "ada",
        role: "ROLE_ADMIN",
        scope: { namespace: "" },
      });
      await post("AccessService/CreateToken", { principal: "ada" });
    });
    expect(await visit(["--auth"], folder)).toContain("  ada (user)");
    await visit([], folder, async (post) => {
      const { entries } = (await post("AccessService/ListAudit", {})) as unknown as { entries: object[] };
      expect(entries[0]).toMatchObject({
        principal: "owner",
        action: "review-administrators",
        facts: { administrators: "1" },
      });
      expect(
        ((await post("AccessService/VerifyAudit", {})) as { problems?: unknown }).problems ?? [],
      ).toEqual([]);
    });
  });
});
