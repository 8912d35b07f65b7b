import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Server } from "#server/serve.ts";
import { startServer } from "#server/testing/servers.ts";
import { pythonCommand } from "../../tools/needs.ts";

const run = promisify(execFile);
let server: Server;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** TorchX's own tracker, which knows only the address of Cairn. */
const SCRIPT = `
import json, sys, warnings
warnings.simplefilter("ignore")
from torchx.runtime.tracking import FsspecResultTracker
tracker = FsspecResultTracker(sys.argv[1] + "/results/langtech/asr/en_wav2vec/exp-7")
assert tracker["missing"] == {}, tracker["missing"]
tracker["attempt_1/out"] = {"accuracy": 0.5, "l2norm/mean": 1, "l2norm/sem": 0.25, "note": "x"}
tracker[1] = {"loss": 2.0}
tracker[1] = {"loss": 1.0}
assert tracker["1"] == {"loss": 1.0}, tracker["1"]
print(json.dumps({"out": tracker["attempt_1/out"], "one": tracker[1]}))
`;

it("X44 the stock FsspecResultTracker of TorchX puts and gets over http", async () => {
  const { stdout } = await run(pythonCommand(), ["-c", SCRIPT, server.listening.url], { timeout: 120_000 });
  expect(JSON.parse(stdout)).toEqual({
    out: { accuracy: 0.5, "l2norm/mean": 1, "l2norm/sem": 0.25, note: "x" },
    one: { loss: 1 },
  });
  const answer = await fetch(`${server.listening.url}/cairn.v1.RunService/SearchRuns`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ namespace: "langtech/asr/en_wav2vec", columns: ["params"] }),
  });
  expect(await answer.json()).toMatchObject({
    totalCount: "1",
    runs: [
      {
        namespace: "langtech/asr/en_wav2vec",
        name: "exp-7",
        params: {
          "1": '{"loss":1.0}',
          "attempt_1/out": expect.stringContaining('"l2norm/mean":1') as string,
        },
      },
    ],
  });
});
