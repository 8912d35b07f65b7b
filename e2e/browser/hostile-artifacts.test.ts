import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Server } from "#server/serve.ts";
import { startServer } from "#server/testing/servers.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { seed, tally } from "../../tools/dose.ts";
import { launchChromium } from "./chromium.ts";
import { oneOfEach } from "./one-of-each.ts";
import { payloads } from "./payloads.ts";

interface Beacon {
  url: string;
  requests: string[];
  close(): Promise<void>;
}

/** Listens for anything that calls home. */
async function startBeacon(): Promise<Beacon> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

describe("S3 artifacts with scripts", () => {
  let server: Server;
  let beacon: Beacon;
  let browser: Browser;
  /** By name. */
  const urls = new Map<string, string>();

  beforeAll(async () => {
    server = await startServer();
    beacon = await startBeacon();
    const { runs } = clientsOf(createGrpcTransport({ baseUrl: server.listening.url }));
    const { run } = await runs.createRun({ name: "<script>top.canary=1</script>" });
    for (const { name, mediaType, content } of payloads(beacon.url).flat()) {
      const url = `${server.listening.url}/artifacts/${run!.id}/${encodeURIComponent(name)}`;
      const put = await fetch(url, { method: "PUT", headers: { "content-type": mediaType }, body: content });
      expect(put.status, `${name} ${await put.text()}`).toBe(201);
      urls.set(name, url);
    }
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser.close();
    await beacon.close();
    await server.close();
  });

  it("S3 are served as downloads that browsers do not open", async () => {
    expect(urls.size).toBe(200);
    for (const url of urls.values()) {
      const { headers } = await fetch(url);
      expect(headers.get("x-content-type-options"), url).toBe("nosniff");
      expect(headers.get("content-disposition"), url).toMatch(/^attachment/);
      expect(headers.get("content-security-policy"), url).toContain("sandbox");
      expect(headers.get("content-security-policy"), url).toContain("default-src 'none'");
    }
  });

  it.each([
    ["as they are served", false],
    // What stops them then is the sandbox alone.
    ["even if they are opened and not kept", true],
  ])("S3 run nothing and send nothing, %s", async (_title, opened) => {
    const tried = oneOfEach(payloads(beacon.url)).map(({ name }) => urls.get(name)!);
    const context = await browser.newContext();
    let openedCount = 0;
    if (opened) {
      await context.route(`${server.listening.url}/artifacts/**`, async (route) => {
        const response = await route.fetch();
        const { "content-disposition": _, ...headers } = response.headers();
        openedCount += 1;
        await route.fulfill({ response, headers });
      });
    }
    await context.addCookies([{ name: "session", value: "stolen", url: server.listening.url }]);
    const page = await context.newPage();
    // A page of Cairn's own origin, as careless as can be: no policy of its own.
    await page.route(`${server.listening.url}/careless`, (route) =>
      route.fulfill({ contentType: "text/html", body: "<!doctype html><title>careless</title>" }),
    );
    for (let from = 0; from < tried.length; from += 50) {
      await page.goto(`${server.listening.url}/careless`);
      await embed(page, tried.slice(from, from + 50));
      for (const frame of page.frames()) {
        const canary = await frame
          .evaluate(() => (globalThis as { canary?: string }).canary)
          // One that leads elsewhere is gone by now.
          .catch((error: Error) => {
            expect(error.message).toMatch(/detached|navigat/);
          });
        expect(canary, frame.url()).toBeUndefined();
      }
    }
    for (const url of tried) {
      // A navigation that becomes a download never loads.
      await page
        .goto(url)
        .catch((error: Error) => expect(error.message).toMatch(/Download is starting|ERR_ABORTED/));
      expect(await page.evaluate(() => (globalThis as { canary?: string }).canary), url).toBeUndefined();
    }
    expect(beacon.requests, `seed ${seed}`).toEqual([]);
    if (opened) expect(openedCount).toBeGreaterThanOrEqual(tried.length);
    await context.close();
    tally("hostile files opened", tried.length);
  });
});

/** Puts each into a frame, an object, an embed and an image, and waits until all have had their chance. */
async function embed(page: Page, urls: readonly string[]): Promise<void> {
  await page.evaluate(`(async () => {
    const settled = ${JSON.stringify(urls)}.flatMap((url) =>
      ["iframe", "object", "embed", "img"].map((tag) => {
        const element = document.createElement(tag);
        element.setAttribute(tag === "object" ? "data" : "src", url);
        const done = new Promise((resolve) => {
          element.addEventListener("load", resolve);
          element.addEventListener("error", resolve);
          // A frame whose content becomes a download says nothing at all.
          setTimeout(resolve, 1_000);
        });
        document.body.append(element);
        return done;
      }),
    );
    await Promise.all(settled);
  })()`);
}
