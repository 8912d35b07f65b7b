import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build, type Rolldown } from "vite";
import { describe, expect, it } from "vitest";

const SDK = fileURLToPath(new URL("../../sdk/typescript/", import.meta.url));

/** All of it as one script, as a page would load it. */
async function bundle(entry: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: false,
      lib: { entry: `${SDK}${entry}`, formats: ["iife"], name: "CairnSdk" },
    },
  });
  const outputs = (Array.isArray(built) ? built : [built]) as Rolldown.RolldownOutput[];
  const chunks = outputs.flatMap(({ output }) => output.filter((one) => one.type === "chunk"));
  return chunks.map(({ code }) => code).join("\n");
}

const NODE = /["']node:|__vite-browser-external/;

describe("the client in a browser", () => {
  it("C19 has the whole API without Node", async () => {
    const code = await bundle("browser.ts");
    expect(code.match(NODE)?.[0]).toBeUndefined();
    // What a browser has of the same kind, and neither process nor Buffer nor require.
    const page = createContext({
      URL,
      Headers,
      TextEncoder,
      TextDecoder,
      AbortController,
      AbortSignal,
      setTimeout,
    });
    const url = runInContext(
      `${code}; new CairnSdk.Cairn({ url: "http://x/" }).runs.getRun && new CairnSdk.Cairn({ url: "http://x/" }).url`,
      page,
    ) as string;
    expect(url).toBe("http://x");
    expect(runInContext("CairnSdk.Failure.from(new Error('no')).message", page)).toBe("no");
  });

  it("C19 the check would see Node in what only Node can run", async () => {
    expect((await bundle("index.ts")).match(NODE)?.[0]).toBeDefined();
  });
});
