import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dose, isLong, seed, tally } from "../../tools/dose.ts";
import { goWithin } from "./go-within.ts";
import { hostileNames } from "./hostile-names.ts";
import { oneOfEach } from "./one-of-each.ts";
import { payloads } from "./payloads.ts";
import { useWebPages } from "./web-page.ts";

const NAMESPACE_PARTS = [
  "<img src=x onerror=top.canary=1>",
  "javascript:top.canary=2",
  "\u202egpj.exe",
  "'\"><b>",
];
/** The maximum of a run; pages show as many as fit. */
const PARTS = 25;

/** The names of each run. The seed decides which of them come first, and so into the places that hold only one. */
function namesOfRuns(home: string): string[][] {
  const kinds = hostileNames(home);
  const lists = isLong
    ? Array.from({ length: kinds.flat().length / PARTS }, (_, i) =>
        rotate(kinds.flat(), seed).slice(i * PARTS, (i + 1) * PARTS),
      )
    : [oneOfEach(kinds), oneOfEach(kinds, 4)];
  return lists.map((list, i) => rotate(list, (seed + i * 12) % PARTS));
}

function rotate<T>(list: readonly T[], by: number): T[] {
  const at = by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

describe("S3 Z84 names and files with scripts", () => {
  const pages = useWebPages({ demo: "none" });
  const requests: string[] = [];
  const beacon = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.end();
  });
  let names: string[] = [];
  const runIds: string[] = [];
  let namespace = "";

  beforeAll(async () => {
    await new Promise<void>((resolve) => beacon.listen(0, "127.0.0.1", resolve));
    const { port } = beacon.address() as AddressInfo;
    const home = `http://127.0.0.1:${port}`;
    const lists = namesOfRuns(home);
    names = lists.flat();
    expect(new Set(names).size).toBe(dose(50, 200));
    const files = oneOfEach(payloads(home));
    const { cairn } = pages();
    namespace = await firstAllowed(NAMESPACE_PARTS);
    for (const [i, some] of lists.entries()) {
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
          testData: some.slice(0, 5),
          featurePipeline: some[1]!,
          initialState: some[2]!,
          study: some[3]!,
          logsLocation: some[4]!,
          user: some[0]!,
          code: {
            repository: some[4]!,
            commit: some[2]!,
            branch: some[0]!,
            dirtyPatch: some.join("\n"),
            patchLeftOut: some[3]!,
          },
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
      await cairn.metrics.describeKey({
        description: { namespace, key: cut(some[0]!, 400), unit: cut(some[1]!, 60), description: some[2]! },
      });
      for (const name of some.slice(0, 5))
        await cairn.lineage.addSource({ run: { id }, source: { id: cut(name, 500) } });
      for (const { name, mediaType, content } of files.slice(i * PARTS, (i + 1) * PARTS)) {
        const path = `/artifacts/${id}/${encodeURIComponent(name)}`;
        const put = await cairn.fetch(path, {
          method: "PUT",
          headers: { "content-type": mediaType },
          body: content,
        });
        expect(put.status).toBe(201);
      }
    }
    tally("hostile names shown", names.length);
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
    const where = `${path}, seed ${seed}`;
    expect(page.url().startsWith(pages().url), `${where} led to ${page.url()}`).toBe(true);
    for (const frame of page.frames()) {
      const canary = await frame.evaluate("globalThis.canary").catch(() => undefined);
      expect(canary, `${where} in ${frame.url()}`).toBeUndefined();
    }
    // The name of a run may be in it, as text.
    expect(await page.title()).not.toBe("CANARY");
    expect(await page.evaluate("localStorage.canary")).toBeUndefined();
    expect(await page.evaluate("({}).polluted")).toBeUndefined();
    expect(requests, where).toEqual([]);
  }

  async function visit(path: string, act?: (page: Page) => Promise<void>): Promise<void> {
    const page = await pages().open(path);
    await settled(page);
    await act?.(page);
    await expectUnharmed(page, path);
    await page.close();
  }

  /** Each in a page of its own; in a dose one after the other in the same page, as a person goes through them. */
  async function visitAll(paths: readonly string[]): Promise<void> {
    if (isLong) for (const path of paths) await visit(path);
    else
      await visit(paths[0]!, async (page) => {
        for (const path of paths.slice(1)) {
          await expectUnharmed(page, page.url());
          await goWithin(page, path);
          await settled(page);
        }
      });
  }

  /** Some of the names, evenly. */
  function someNames(count: number): string[] {
    return Array.from({ length: count }, (_, i) => names[Math.floor((i * names.length) / count)]!);
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
    const tabs = ["tokens", "scopes", "people", "audit"];
    await visitAll([
      "/about",
      ...tabs.map((tab) => `/access?tab=${tab}&scope=${encodeURIComponent(namespace)}`),
    ]);
  });

  it("S3 Z84 runs, and a query out of a hostile link", async () => {
    await visit(`/n/${namespace.split("/").map(encodeURIComponent).join("/")}`);
    for (const name of someNames(dose(2, 10))) await visit(`/n/hostile?q=${encodeURIComponent(name)}`);
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
    // All parts of the first, and of the others the two that show most.
    await visitAll(
      runIds.flatMap((id, i) => (i === 0 ? tabs : ["overview", "logs"]).map((tab) => `/r/${id}?tab=${tab}`)),
    );
  });

  it("S3 Z84 explore, in every view", async () => {
    const path = namespace.split("/").map(encodeURIComponent).join("/");
    await visitAll([
      ...["parallel", "scatter", "importance", "facets"].map((view) => `/explore/${path}?tab=${view}`),
      "/explore/hostile?table=true&objective=metrics.shared/metric.last",
    ]);
    for (const name of someNames(dose(1, 5)))
      await visit(`/explore/hostile?x=${encodeURIComponent(name)}&brush=${encodeURIComponent(name)}`);
    pages().forgive(/status of 400/);
  });

  it("S3 Z84 Z98 a page with all of them in it, and with styles that hide what they load", async () => {
    const { port } = beacon.address() as AddressInfo;
    const home = `http://127.0.0.1:${port}`;
    const hidden = `background:u\\72l(${home}/hidden.png)`;
    const body = [
      `<style>p { ${hidden} } @\\69mport "${home}/sheet.css"; </style><p style="${hidden}">seen</p>`,
      ...payloads(home)
        .flat()
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

/** Waits until the page shows something and has not changed for a while: then every script had its chance to run. */
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
