import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseGpuModels, parseGpuSamples, readGpuModels, readGpuSamples } from "./gpus.ts";
import { fakeProgram, temporaryFolder } from "./testing/folders.ts";
import {
  H200_BUSY_SAMPLE,
  H200_MODEL,
  H200_NOT_THERE,
  H200_SAMPLE,
  NO_SUCH_FIELD,
  NO_SUCH_GPU,
} from "./testing/recorded.ts";

const MIB = 1 << 20;
const ASK = { timeoutMs: 10_000, keepsAlive: true };

/** A process that has ended may still be a zombie. */
async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) Z /.test(stat);
}

describe("parseGpuSamples", () => {
  it("C37 parses the output of an H200", () => {
    expect(parseGpuSamples(H200_SAMPLE)).toEqual([
      {
        index: 0,
        utilizationPercent: 0,
        memoryUsedBytes: 0,
        memoryTotalBytes: 143771 * MIB,
        temperatureCelsius: 36,
        powerWatts: 122.61,
      },
    ]);
    expect(parseGpuSamples(H200_BUSY_SAMPLE)).toMatchObject([{ utilizationPercent: 12, powerWatts: 612.23 }]);
    expect(parseGpuModels(H200_MODEL)).toEqual([
      { index: 0, name: "NVIDIA H200", driver: "580.159.04", memoryBytes: 143771 * MIB },
    ]);
  });

  it("C37 leaves out what a GPU does not measure", () => {
    const missing = H200_NOT_THERE.split(", ")[1]!;
    expect(parseGpuSamples(`1, ${missing}, 5, [Not Supported], ERR!, [Unknown Error]\r\n`)).toEqual([
      { index: 1, memoryUsedBytes: 5 * MIB },
    ]);
  });

  it("C37 parses nothing from other text", () => {
    const texts = ["", "\n", NO_SUCH_FIELD, NO_SUCH_GPU, "x, 0, 0, 0, 0, 0", "0, 1", "-1, 0, 0, 0, 0, 0"];
    for (const text of texts) expect(parseGpuSamples(text)).toEqual([]);
    expect(parseGpuSamples("0, 0, 0, 0, 0, 0\n".repeat(10_000)).length).toBe(128);
  });
});

describe("readGpuSamples", () => {
  it("C37 asks nvidia-smi for several GPUs at once", async () => {
    const env = await fakeProgram(
      "nvidia-smi",
      `[ "$1" = "--query-gpu=index,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw" ] || exit 2
       [ "$2" = "--format=csv,noheader,nounits" ] || exit 3
       printf '0, 97, 81559, 143771, 61, 402.11\\n1, 12, 1, 143771, 33, 80.00\\n'`,
    );
    const answer = await readGpuSamples({ ...ASK, env });
    expect(answer).toMatchObject({ ok: true, gpus: [{ index: 0, utilizationPercent: 97 }, { index: 1 }] });
  });

  it("C37 gives the cause when there is no answer", async () => {
    const nowhere = { ...process.env, PATH: await temporaryFolder() };
    expect(await readGpuSamples({ ...ASK, env: nowhere })).toMatchObject({ ok: false, isMissing: true });
    const broken = await fakeProgram("nvidia-smi", `printf '${NO_SUCH_GPU}'; exit 6`);
    expect(await readGpuModels({ ...ASK, env: broken })).toEqual({
      ok: false,
      isMissing: false,
      cause: "it ended with 6: No devices were found",
    });
    const empty = await fakeProgram("nvidia-smi", `printf '${NO_SUCH_GPU}'`);
    expect(await readGpuModels({ ...ASK, env: empty })).toMatchObject({
      ok: false,
      cause: NO_SUCH_GPU.trim(),
    });
    const chatty = await fakeProgram("nvidia-smi", "while :; do echo 0, 0, 0, 0, 0, 0; done");
    expect(await readGpuSamples({ ...ASK, env: chatty })).toMatchObject({
      ok: false,
      cause: "it printed more than 1048576 bytes",
    });
  });

  it("C26 ends one that hangs, and all that it started", async () => {
    const file = join(await temporaryFolder(), "pid");
    // The grandchild holds the pipe open.
    const env = await fakeProgram("nvidia-smi", `sleep 60 & echo $! > ${file}; wait`);
    const started = performance.now();
    const answer = await readGpuSamples({ timeoutMs: 1000, keepsAlive: true, env });
    expect(answer).toMatchObject({ ok: false, cause: "it took longer than 1000 ms" });
    expect(performance.now() - started).toBeLessThan(40_000);
    const pid = Number(await readFile(file, "utf8"));
    expect(pid).toBeGreaterThan(1);
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});
