import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

import { packageNameOf, readLock, readManifest } from "./lockfile.ts";
import { NODE_BINARIES, NODE_VERSION } from "./node-binaries.ts";
import type { Bom, Component } from "./sbom.ts";
import { ROOT } from "./sources.ts";

describe("S21: npm run sbom", () => {
  const folder = mkdtempSync(join(tmpdir(), "cairn-sbom-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  function make(name: string, env: NodeJS.ProcessEnv = {}): string {
    const argv = [join(ROOT, "tools", "sbom.ts"), "--out", name];
    execFileSync(process.execPath, argv, { env: { ...process.env, INIT_CWD: folder, ...env } });
    return readFileSync(join(folder, name), "utf8");
  }

  const text = make("first.cdx.json");
  const bom = JSON.parse(text) as Bom;
  const byPurl = new Map(bom.components.map((component) => [component.purl, component]));

  it("S21: gives the same bytes for the same tree", () => {
    expect(make("second.cdx.json")).toBe(text);
    const dated = JSON.parse(make("dated.cdx.json", { SOURCE_DATE_EPOCH: "86400" })) as Bom;
    expect(dated.metadata.timestamp).toBe("1970-01-02T00:00:00.000Z");
  });

  it("S21: has the form of CycloneDX 1.6", async () => {
    const { version } = await readManifest();
    expect(bom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6", version: 1 });
    expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(bom.metadata.component).toMatchObject({ type: "application", name: "cairn", version });
    const refs = bom.components.map((component) => component["bom-ref"]);
    expect(new Set(refs).size).toBe(refs.length);
    const known = new Set([bom.metadata.component["bom-ref"], ...refs]);
    expect(new Set(bom.dependencies.map(({ ref }) => ref))).toEqual(known);
    for (const { dependsOn } of bom.dependencies) {
      for (const ref of dependsOn) expect(known.has(ref), ref).toBe(true);
    }
    expect(text).not.toMatch(/https?:/);
  });

  it("S21: has every package that is installed for production, with its hash", async () => {
    const lock = await readLock();
    const production = Object.entries(lock.packages).filter(([at, { dev }]) => at !== "" && dev !== true);
    expect(production.length).toBeGreaterThan(40);
    for (const [at, { version, integrity }] of production) {
      const purl = `pkg:npm/${packageNameOf(at).replace("@", "%40")}@${version}`;
      const hash = byPurl.get(purl)?.hashes?.[0];
      expect(hash?.alg, purl).toBe("SHA-512");
      expect(`sha512-${Buffer.from(hash!.content, "hex").toString("base64")}`, purl).toBe(integrity);
    }
  });

  it("S21: has packages of the pages, Node, and the Python client, but no tools", async () => {
    const { devDependencies } = await readManifest();
    const has = (name: string) => byPurl.has(`pkg:npm/${name.replace("@", "%40")}@${devDependencies[name]}`);
    for (const name of ["react", "react-dom", "marked", "@base-ui/react"]) expect(has(name), name).toBe(true);
    for (const name of ["vite", "vitest", "typescript", "oxlint", "fast-check"])
      expect(has(name), name).toBe(false);
    for (const [name, sha256] of Object.entries(NODE_BINARIES)) {
      const binary = byPurl.get(`pkg:npm/${name}@${NODE_VERSION}`)?.components?.[0] as Component;
      expect(binary).toMatchObject({ type: "platform", name: "node", version: NODE_VERSION });
      expect(binary.cpe).toContain(`:nodejs:node.js:${NODE_VERSION}:`);
      expect(binary.hashes).toEqual([{ alg: "SHA-256", content: sha256 }]);
    }
    const client = bom.components.find(({ name }) => name === "cairn-tracker")!;
    const python = readFileSync(join(ROOT, "sdk", "python", "pyproject.toml"), "utf8");
    expect(python).toContain(`version = "${client.version}"`);
    expect(bom.dependencies.find(({ ref }) => ref === client["bom-ref"])?.dependsOn).toEqual([]);
  });
});
