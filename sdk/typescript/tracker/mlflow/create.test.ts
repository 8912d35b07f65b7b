import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMLflowTracker } from "./create.ts";
import { MLflowTracker } from "./mlflow-tracker.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "cairn-mlflow-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A tracker first looks up its experiment by name; this answers only that. */
async function experimentAskedFor(make: (url: string) => Promise<MLflowTracker>): Promise<string | null> {
  const server = createServer((request, response) => {
    const name = new URL(request.url!, "http://x").searchParams.get("experiment_name");
    const experiment = { experiment_id: "1", name, artifact_location: "", lifecycle_stage: "active" };
    response.end(JSON.stringify({ experiment }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const tracker = await make(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return (await tracker.experiment()).name;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("the settings of MLflowTracker", () => {
  it("X27 come from the folder that TorchX names, the variable wins", async () => {
    const config = (url: string) =>
      writeFile(
        join(folder, ".torchxconfig"),
        `[tracker:mlflow]\nconfig = ${folder}\nexperiment_name = from file\ntracking_uri = ${url}\n`,
      );
    const make = async (url: string, env: Record<string, string>) => {
      await config(url);
      return createMLflowTracker(folder, env);
    };
    expect(await experimentAskedFor((url) => make(url, {}))).toBe("from file");
    const env = { TORCHX_TRACKING_EXPERIMENT_NAME: "from launcher" };
    expect(await experimentAskedFor((url) => make(url, env))).toBe("from launcher");
  });

  it("X27 are an address, or that of MLFLOW_TRACKING_URI", async () => {
    const env = { TORCHX_TRACKING_EXPERIMENT_NAME: "e" };
    expect(await experimentAskedFor((url) => createMLflowTracker(url, env))).toBe("e");
    expect(
      await experimentAskedFor((url) => createMLflowTracker(null, { ...env, MLFLOW_TRACKING_URI: url })),
    ).toBe("e");
  });

  it("X27 by default are those that TorchX documents", async () => {
    const name = await experimentAskedFor((url) => createMLflowTracker(url, { USER: "ada" }));
    expect(name).toMatch(/^default-experiment\/ada\/.+/);
    expect(() => new MLflowTracker(null, null, null, { env: {} })).toThrow(
      'cannot use tracking URI "file:///tmp/torchx/mlruns"',
    );
  });

  it.each(["file:///data/mlruns", "sqlite:////data/mlflow.db", "databricks://profile", "/data/mlruns"])(
    "X27 %s is refused with a way out",
    (uri) => {
      expect(() => new MLflowTracker("e", uri)).toThrow(
        `cannot use tracking URI "${uri}": it is not a server, and only MLflow's own Python code opens files and databases; run \`mlflow server --backend-store-uri ${uri}\``,
      );
    },
  );

  it("X27 name what is wrong with them", async () => {
    await expect(createMLflowTracker(join(folder, "nowhere"), {})).rejects.toThrow(
      "cannot use tracker config",
    );
    await writeFile(join(folder, ".torchxconfig"), "[tracker:mlflow]\nexperiment = x\n");
    await expect(createMLflowTracker(folder, {})).rejects.toThrow(
      '[tracker:mlflow] has "experiment", and only',
    );
  });
});
