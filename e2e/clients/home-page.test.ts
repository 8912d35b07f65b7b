import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";
import type { Server } from "#server/serve.ts";
import { startServer } from "#server/testing/servers.ts";

const run = promisify(execFile);

/** Without the pages: then the front page says how to call the API. */
let server: Server;

afterEach(() => server.close());

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

it("W1 the examples on the front page work unchanged", async () => {
  server = await startServer();
  const [create, log, search, ...more] = await examples(server.listening.url);
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
  server = await startServer(["--host", "0.0.0.0"]);
  const token = server.newToken!;
  const [create, log, search] = await examples(server.listening.url);
  expect(await shell(create!)).toMatchObject({ code: "unauthenticated" });
  const withToken = (command: string) => command.replace("TOKEN", token);
  expect(await shell(withToken(create!))).toMatchObject({ created: true });
  expect(await shell(withToken(log!))).toEqual({ points: "3" });
  expect(await shell(withToken(search!))).toMatchObject({ totalCount: "1" });
});
