import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostileNames } from "./hostile-names.ts";
import { payloads } from "./payloads.ts";
import { useWebPages } from "./web-page.ts";

const NAMESPACE_PARTS = [
  "<img src=x onerror=top.canary=1>",
  "javascript:top.canary=2",
  "\u202egpj.exe",
  "'\"><b>",
];
/** A run has room for all of them; each page shows what it has room for. */
const PARTS = 25;

describe("S3 Z84 names and files that hope to be run", () => {
  const pages = useWebPages({ demo: "none" });
  const heard: string[] = [];
  const beacon = createServer((request, response) => {
    heard.push(request.url ?? "");
    response.end();
  });
  let names: string[] = [];
  const runIds: string[] = [];
  let namespace = "";

  beforeAll(async () => {
    await new Promise<void>((resolve) => beacon.listen(0, "127.0.0.1", resolve));
    const { port } = beacon.address() as AddressInfo;
    const home = `http://127.0.0.1:${port}`;
    names = hostileNames(home);
    expect(new Set(names).size).toBe(200);
    const { cairn } = pages();
    namespace = await firstAllowed(NAMESPACE_PARTS);
    for (let from = 0; from < names.length; from += PARTS) {
      const some = names.slice(from, from + PARTS);
      const { run } = await cairn.runs.createRun({
        namespace,
        name: cut(some[0]!, 500),
        aliases: some.slice(0, 5).map((name) => cut(name, 1_000)),
        params: Object.fromEntries(some.map((name) => [cut(name, 400), JSON.stringify(name)])),
        tags: Object.fromEntries(some.map((name) => [cut(name, 400), name])),
        notes: some.join("\n\n"),
        provenance: {
          command: some.slice(0, 5),
          trainingData: some.slice(0, 5),
          featurePipeline: some[1]!,
          code: { repository: some[4]!, commit: some[2]!, branch: some[0]!, dirtyPatch: some.join("\n") },
          environment: Object.fromEntries(some.slice(0, 5).map((name) => [cut(name, 200), name])),
        },
      });
      const id = run!.id;
      runIds.push(id);
      await cairn.metrics.writeEnvelope({
        run: { id },
        series: some.flatMap((name) => [
          { key: cut(name, 400), steps: [1n, 2n, 3n], values: [1, 2, 3] },
          { key: "shared/metric", labels: { rank: cut(name, 60) }, steps: [1n, 2n], values: [1, 2] },
        ]),
        log: [{ stream: "stdout", lines: some, timesUs: [] }],
      });
      for (const name of some.slice(0, 5))
        await cairn.lineage.addSource({ run: { id }, source: { id: cut(name, 500) } });
      for (const { name, mediaType, content } of payloads(home).slice(from, from + PARTS)) {
        const path = `/artifacts/${id}/${encodeURIComponent(name)}`;
        const put = await cairn.fetch(path, {
          method: "PUT",
          headers: { "content-type": mediaType },
          body: content,
        });
        expect(put.status).toBe(201);
      }
    }
  });

  afterAll(() => new Promise<void>((resolve) => beacon.close(() => resolve())));

  async function firstAllowed(parts: readonly string[]): Promise<string> {
    for (const part of parts) {
      try {
        const path = `hostile/${part}`;
        await pages().cairn.namespaces.createNamespace({ path, description: names[1]! });
        return path;
      } catch {
        // Not every name is one of a namespace; the first that is will do.
      }
    }
    await pages().cairn.namespaces.createNamespace({ path: "hostile", description: names[1]! });
    return "hostile";
  }

  /** Nothing of it ran in any frame, and no page was led away. */
  async function expectUnharmed(page: Page, path: string): Promise<void> {
    expect(page.url().startsWith(pages().url), `${path} led to ${page.url()}`).toBe(true);
    for (const frame of page.frames()) {
      const canary = await frame.evaluate("globalThis.canary").catch(() => undefined);
      expect(canary, `${path} in ${frame.url()}`).toBeUndefined();
    }
    // The name of a run may be in it, as text.
    expect(await page.title()).not.toBe("CANARY");
    expect(await page.evaluate("localStorage.canary")).toBeUndefined();
    expect(await page.evaluate("({}).polluted")).toBeUndefined();
    expect(heard, path).toEqual([]);
  }

  async function visit(path: string, act?: (page: Page) => Promise<void>): Promise<void> {
    const page = await pages().open(path);
    await settled(page);
    await act?.(page);
    await expectUnharmed(page, path);
    await page.close();
  }

  it("S3 Z84 home, search, about and access", async () => {
    await visit("/", async (page) => {
      await page.getByRole("region", { name: "Recent runs" }).waitFor();
      for (const text of ["<script", "javascript:", "onerror"]) {
        await page.keyboard.press("Control+k");
        await page.getByRole("combobox").fill(text);
        await page.getByRole("option").first().waitFor();
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
      }
    });
    await visit("/about");
    for (const tab of ["tokens", "scopes", "people", "audit"])
      await visit(`/access?tab=${tab}&scope=${encodeURIComponent(namespace)}`);
  });

  it("S3 Z84 runs, and a query out of a hostile link", async () => {
    await visit(`/n/${namespace.split("/").map(encodeURIComponent).join("/")}`);
    for (const name of names.filter((_, i) => i % 20 === 0))
      await visit(`/n/hostile?q=${encodeURIComponent(name)}`);
    pages().forgive(/status of 400/);
  });

  it("S3 Z84 every part of every hostile run", async () => {
    const tabs = [
      "overview",
      "charts",
      "params",
      "artifacts",
      "media",
      "logs",
      "system",
      "provenance",
      "lineage",
    ];
    for (const [i, id] of runIds.entries()) {
      // All parts of the first, and of the others the two that show most.
      for (const tab of i === 0 ? tabs : ["overview", "logs"]) await visit(`/r/${id}?tab=${tab}`);
    }
  });

  it("S3 Z84 explore, in every view", async () => {
    const path = namespace.split("/").map(encodeURIComponent).join("/");
    for (const view of ["parallel", "scatter", "importance", "facets"])
      await visit(`/explore/${path}?tab=${view}`);
    await visit(`/explore/hostile?table=true&objective=metrics.shared/metric.last`);
    for (const name of names.filter((_, i) => i % 40 === 0))
      await visit(`/explore/hostile?x=${encodeURIComponent(name)}&brush=${encodeURIComponent(name)}`);
    pages().forgive(/status of 400/);
  });

  it("S3 Z84 Z98 a page with all of them in it, and styles that hide what they ask for", async () => {
    const { port } = beacon.address() as AddressInfo;
    const home = `http://127.0.0.1:${port}`;
    const hidden = `background:u\\72l(${home}/hidden.png)`;
    const body = [
      `<style>p { ${hidden} } @\\69mport "${home}/sheet.css"; </style><p style="${hidden}">seen</p>`,
      ...payloads(home)
        .filter(({ mediaType }) => mediaType.startsWith("text/html"))
        .map(({ content }) => content),
      `<b style="color:red;</style><script>top.canary=1</script>">`,
    ].join("\n");
    const [id] = runIds;
    const headers = { "content-type": "text/html" };
    const put = await pages().cairn.fetch(`/artifacts/${id}/all.html`, { method: "PUT", headers, body });
    expect([200, 201]).toContain(put.status);
    await visit(`/r/${id}?tab=artifacts&artifact=all.html`, async (page) => {
      await page.locator("iframe").contentFrame().getByText("seen").waitFor();
    });
    // The browser says what the policy of the frame has stopped.
    pages().forgive(/Content Security Policy/);
  });

  it("S3 Z84 compare", async () => {
    await visit(`/compare?runs=${runIds.slice(0, 4).join(",")}`);
    pages().forgive(/status of 400/);
  });
});

/** Waits until the page shows something and nothing of it changes for a while: then everything had its chance. */
async function settled(page: Page): Promise<void> {
  let before = "";
  let same = 0;
  await expect
    .poll(
      async () => {
        const now = (await page.getByRole("main").innerText()).replaceAll(/\d/g, "");
        same = now === before ? same + (now === "" ? 0.1 : 1) : 0;
        before = now;
        return same;
      },
      { interval: 150 },
    )
    .toBeGreaterThanOrEqual(3);
}

/** Names have no control characters, which the server sees to, and no half of a character at the end. */
function cut(text: string, length: number): string {
  // oxlint-disable-next-line no-control-regex -- Those are the ones.
  return text
    .replaceAll(/[\u0000-\u001f\u007f]/g, " ")
    .slice(0, length)
    .replace(/[\ud800-\udbff]$/, "");
}
