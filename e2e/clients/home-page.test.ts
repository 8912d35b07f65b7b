import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";

const run = promisify(execFile);

let folder: string;
let server: ChildServer | undefined;

beforeEach(() => {
  folder = makeFolder();
});

afterEach(async () => {
  server?.child.kill("SIGTERM");
  await server?.exited;
  rmSync(folder, { recursive: true });
});

/** The commands as a person would copy them from the page. */
async function examples(url: string): Promise<string[]> {
  const page = await (await fetch(url)).text();
  return [...page.matchAll(/<pre>(.*?)<\/pre>/gs)].map(([, text]) =>
    text!
      .replaceAll("&#39;", "'")
      .replaceAll("&quot;", '"')
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&"),
  );
}

async function shell(command: string): Promise<Record<string, unknown>> {
  const { stdout } = await run("sh", ["-c", command]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

it("W1 the examples on the front page work as they stand", async () => {
  server = await startChild(["--data", folder]);
  const [create, log, search, ...more] = await examples(server.url);
  expect(more).toEqual([]);
  expect(await shell(create!)).toMatchObject({ created: true, run: { name: "hello", namespace: "demo" } });
  expect(await shell(log!)).toEqual({ points: "3" });
  expect(await shell(search!)).toMatchObject({
    totalCount: "1",
    runs: [{ name: "hello", params: { lr: "0.001" }, metrics: { "loss.min": 0.4 } }],
  });
  // Nobody is punished for pasting twice.
  expect(await shell(create!)).toMatchObject({ run: { name: "hello" } });
});

it("A3 where a token is needed, they work once TOKEN is replaced", async () => {
  server = await startChild(["--data", folder, "--host", "0.0.0.0"]);
  await expect.poll(() => server!.greeting.length).toBeGreaterThan(2);
  const token = server.greeting.join("\n").match(/shown only this once: (\S+)/)![1]!;
  const [create, log, search] = await examples(server.url);
  expect(await shell(create!)).toMatchObject({ code: "unauthenticated" });
  const withToken = (command: string) => command.replace("TOKEN", token);
  expect(await shell(withToken(create!))).toMatchObject({ created: true });
  expect(await shell(withToken(log!))).toEqual({ points: "3" });
  expect(await shell(withToken(search!))).toMatchObject({ totalCount: "1" });
});
