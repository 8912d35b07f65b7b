import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { pythonCommand } from "../../../tools/needs.ts";
import { installPackage } from "../../python/python.ts";
import { expectAccessible, useWebPages } from "../web-page.ts";

const run = promisify(execFile);
const COMMAND_MS_MAX = 240_000;

describe("an empty server", () => {
  const pages = useWebPages({ demo: "none" });

  it("Z81 the snippets of the empty state work unchanged, and the page is updated by itself", async () => {
    const page = await pages().open("/");
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    await expectAccessible(page);
    const folder = mkdtempSync(join(tmpdir(), "cairn-snippets-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const env = {
      ...process.env,
      // As pip installs it: TorchX finds the tracker by the entry point.
      PYTHONPATH: installPackage(folder),
      PATH: `${join(import.meta.dirname, "../../../.venv/bin")}:${process.env["PATH"]}`,
      HOME: folder,
    };
    const options = { cwd: folder, env, timeout: COMMAND_MS_MAX };
    const code = async (title: string) => {
      await page.getByRole("tab", { name: title }).click();
      return page.getByLabel(`${title} code`, { exact: true }).innerText();
    };
    const [python, torchx, curl] = [await code("Python"), await code("TorchX"), await code("curl")];
    const { stdout } = await run("sh", ["-ec", curl], options);
    expect(stdout).toContain('"created":true');
    // The first run makes the empty state go.
    await page.getByRole("region", { name: "Recent runs" }).getByRole("link", { name: "first" }).waitFor();
    await run(pythonCommand(), ["-c", python], options);
    await run("sh", ["-ec", torchx], options);
    const { runs } = await pages().cairn.runs.searchRuns({ columns: ["params", "metrics.loss.min"] });
    const found = new Map(runs.map((one) => [one.namespace, one]));
    expect(found.get("hello/curl")).toMatchObject({ metrics: { "loss.min": 0.4 } });
    expect(found.get("hello/python")).toMatchObject({
      params: { lr: "0.001" },
      metrics: { "loss.min": 0.01 },
    });
    expect(found.get("hello/torchx")).toMatchObject({ params: { lr: "0.001", model: '"tiny"' } });
    await page.getByRole("navigation", { name: "Pages and namespaces" }).getByText("python").waitFor();
  });
});
