import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { startSystemMetrics, type SystemMetricsOptions } from "./system.ts";
import { fakeProgram, temporaryFolder } from "./testing/folders.ts";

interface Logged {
  values: Record<string, number>;
  labels: Record<string, string> | undefined;
}

function record(options: SystemMetricsOptions): { logged: Logged[]; keys(): Set<string>; stop(): void } {
  const logged: Logged[] = [];
  const metrics = startSystemMetrics(
    {
      log(values, { labels, step }) {
        expect(step).toBeNull();
        logged.push({ values, labels });
      },
    },
    { intervalMs: 20, ...options },
  );
  onTestFinished(() => metrics.stop());
  return {
    logged,
    keys: () => new Set(logged.flatMap(({ values }) => Object.keys(values))),
    stop: metrics.stop,
  };
}

const nowhere = { PATH: "/nonexistent" };
const lineCount = async (file: string) =>
  (await readFile(file, "utf8").catch(() => "")).split("\n").length - 1;

describe("startSystemMetrics", () => {
  it("C36 logs the process and the machine", async () => {
    const { logged, keys } = record({ localRank: 0, env: nowhere });
    const common = [
      "cpu.percent",
      "cpu.process.percent",
      "memory.used",
      "memory.percent",
      "memory.rss",
      "disk.percent",
    ];
    const linux = ["network.received", "network.sent"];
    const expected = [...common, ...(process.platform === "linux" ? linux : [])].map(
      (key) => `system/${key}`,
    );
    await expect.poll(() => expected.filter((key) => !keys().has(key))).toEqual([]);
    for (const { values, labels } of logged) {
      expect(labels).toBeUndefined();
      for (const [key, value] of Object.entries(values)) {
        expect(value, key).toBeGreaterThanOrEqual(0);
        if (key.endsWith(".percent") && key !== "system/cpu.process.percent")
          expect(value, key).toBeLessThanOrEqual(100);
      }
    }
  });

  it("C36 measures a busy processor and the memory of the process", async () => {
    const { logged } = record({ localRank: 1 });
    const [startMs, used] = [performance.now(), process.cpuUsage()];
    while (performance.now() < startMs + 300);
    const { user, system } = process.cpuUsage(used);
    // 100 on a machine with nothing else to do, less on a busy one.
    const percent = (user + system) / 10 / (performance.now() - startMs);
    await expect
      .poll(() => Math.max(0, ...logged.map(({ values }) => values["system/cpu.process.percent"] ?? 0)))
      .toBeGreaterThan(percent / 3);
    const rss = logged[0]!.values["system/memory.rss"]!;
    expect(rss / process.memoryUsage.rss()).toBeGreaterThan(0.3);
    expect(rss / process.memoryUsage.rss()).toBeLessThan(3);
  });

  it("C36 measures the machine only on local rank 0", async () => {
    const env = await fakeProgram("nvidia-smi", "echo 0, 1, 2, 3, 4, 5");
    const { logged, keys } = record({ localRank: 3, env });
    await expect.poll(() => logged.length).toBeGreaterThan(5);
    expect([...keys()].sort()).toEqual(["system/cpu.process.percent", "system/memory.rss"]);
  });

  it("C37 logs each GPU under its label", async () => {
    const env = await fakeProgram(
      "nvidia-smi",
      "printf '0, 97, 50, 200, 61, 402.11\\n5, [N/A], 1, 2, 33, [N/A]\\n'",
    );
    const { logged } = record({ localRank: 0, env });
    const ofGpu = (gpu: string) => logged.find(({ labels }) => labels?.["gpu"] === gpu)?.values;
    await expect.poll(() => ofGpu("5")).toBeDefined();
    expect(ofGpu("0")).toEqual({
      "system/gpu.utilization": 97,
      "system/gpu.memory.used": 50 << 20,
      "system/gpu.memory.percent": 25,
      "system/gpu.temperature": 61,
      "system/gpu.power": 402.11,
    });
    expect(Object.keys(ofGpu("5")!)).toEqual([
      "system/gpu.memory.used",
      "system/gpu.memory.percent",
      "system/gpu.temperature",
    ]);
  });

  it("C37 stops nvidia-smi after three failures in a row, and not after two", async () => {
    const folder = await temporaryFolder();
    const [calls, good] = [join(folder, "calls"), join(folder, "good")];
    // The third call succeeds; then nothing but failures.
    const env = await fakeProgram(
      "nvidia-smi",
      `echo x >> ${calls}; [ $(wc -l < ${calls}) = 3 ] && echo x > ${good} && echo 0, 1, 1, 2, 1, 1 && exit 0; exit 9`,
    );
    const { logged } = record({ localRank: 0, env });
    await expect.poll(() => lineCount(calls)).toBe(6);
    const ticks = logged.length;
    await expect.poll(() => logged.length).toBeGreaterThan(ticks + 20);
    expect(await lineCount(calls)).toBe(6);
    expect(logged.filter(({ labels }) => labels !== undefined)).toHaveLength(1);
  });

  it("C37 never runs nvidia-smi twice at once, and other metrics continue beside a slow one", async () => {
    const folder = await temporaryFolder();
    const calls = join(folder, "calls");
    const env = await fakeProgram("nvidia-smi", `echo x >> ${calls}; while :; do sleep 1; done`);
    const { logged } = record({ localRank: 0, env });
    await expect.poll(() => lineCount(calls)).toBe(1);
    await expect.poll(() => logged.length).toBeGreaterThan(20);
    expect(await lineCount(calls)).toBe(1);
  });

  it("C38 logs nothing after it was stopped, not even a measurement that had begun", async () => {
    const folder = await temporaryFolder();
    const [calls, go] = [join(folder, "calls"), join(folder, "go")];
    const env = await fakeProgram(
      "nvidia-smi",
      `echo x >> ${calls}; while [ ! -e ${go} ]; do sleep 0.02; done; echo x >> ${calls}; echo 0, 1, 1, 2, 1, 1`,
    );
    const { logged, stop } = record({ localRank: 0, env });
    await expect.poll(() => lineCount(calls)).toBe(1);
    stop();
    const count = logged.length;
    await writeFile(go, "");
    await expect.poll(() => lineCount(calls)).toBe(2);
    const other = record({ localRank: 1 });
    await expect.poll(() => other.logged.length).toBeGreaterThan(10);
    expect(logged.length).toBe(count);
  });

  it("C38 keeps no process alive, also while nvidia-smi hangs", async () => {
    const folder = await temporaryFolder();
    const calls = join(folder, "calls");
    const env = await fakeProgram("nvidia-smi", `echo $$ >> ${calls}; exec sleep 20`);
    const module = JSON.stringify(fileURLToPath(new URL("system.ts", import.meta.url)));
    const script = `
      import { existsSync, readFileSync } from "node:fs";
      import { startSystemMetrics } from ${module};
      startSystemMetrics({ log() {} }, { intervalMs: 20, localRank: 0 });
      let pid = 0;
      const waiting = setInterval(() => {
        pid = existsSync(${JSON.stringify(calls)}) ? Number(readFileSync(${JSON.stringify(calls)}, "utf8")) : 0;
        if (pid !== 0) clearInterval(waiting);
      }, 5);
      // At its deadline nvidia-smi is ended: as long as it runs, this process has not waited for it.
      process.on("exit", () => {
        try {
          process.kill(pid, 0);
        } catch {
          process.exitCode = 7;
        }
      });
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { env, timeout: 50_000 });
    expect((await once(child, "exit"))[0]).toBe(0);
    expect(await lineCount(calls)).toBe(1);
  });

  it("C38 ignores a log that throws, and refuses an invalid interval", async () => {
    let calls = 0;
    const { stop } = startSystemMetrics(
      {
        log() {
          calls++;
          throw new Error("no");
        },
      },
      { intervalMs: 20, localRank: 1 },
    );
    onTestFinished(stop);
    await expect.poll(() => calls).toBeGreaterThan(3);
    for (const intervalMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => startSystemMetrics({ log() {} }, { intervalMs })).toThrow(
        /^cannot log system metrics every/,
      );
  });
});
