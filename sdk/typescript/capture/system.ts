import { readGpuSamples, type GpuSample } from "./gpus.ts";
import { MachineMeter, type Values } from "./machine-meter.ts";
import { readRank } from "./ranks.ts";

/** What system metrics need of a run. */
export interface MetricLog {
  /**
   * A step of null means none: the points have only their time. They would otherwise use up numbers of the
   * counter that gives the steps of the run's own metrics.
   */
  log(values: Values, options: { labels?: Record<string, string>; step: null }): void;
}

export interface SystemMetricsOptions {
  intervalMs?: number;
  /** By default what the launcher says. Only local rank 0 measures the machine, for all. */
  localRank?: number;
  /** Whose disk is watched; by default the working directory. */
  dir?: string;
  /** Where `nvidia-smi` is looked for. */
  env?: NodeJS.ProcessEnv;
}

export interface SystemMetrics {
  /** Nothing is logged after this returns. */
  stop(): void;
}

const INTERVAL_MS = 10_000;
const INTERVAL_MS_MIN = 10;
const INTERVAL_MS_MAX = 24 * 3600 * 1000;
const GPU_MS_MAX = 2_000;
const GPU_FAILURES_MAX = 3;

/**
 * Logs what the process and its machine are doing as `system/…` series, the first time after one interval. A tick
 * is skipped while the previous one is running. Nothing here throws later or keeps the process alive.
 */
export function startSystemMetrics(run: MetricLog, options: SystemMetricsOptions = {}): SystemMetrics {
  const { intervalMs = INTERVAL_MS, dir = process.cwd() } = options;
  if (!(intervalMs >= INTERVAL_MS_MIN && intervalMs <= INTERVAL_MS_MAX)) {
    throw new RangeError(
      `cannot log system metrics every "${intervalMs}" ms: the interval is a number from ${INTERVAL_MS_MIN} ms to a day`,
    );
  }
  let isStopped = false;
  const log = (values: Values, labels?: Record<string, string>) => {
    if (isStopped || Object.keys(values).length === 0) return;
    try {
      run.log(values, { step: null, ...(labels !== undefined && { labels }) });
    } catch {
      // A failed measurement must not disturb the job.
    }
  };
  const ticks = [unlessBusy(processTick(log))];
  if ((options.localRank ?? defaultLocalRank()) === 0) {
    ticks.push(unlessBusy(machineTick(log, dir)), unlessBusy(gpuTick(log, options.env ?? process.env)));
  }
  const timer = setInterval(() => {
    for (const tick of ticks) tick();
  }, intervalMs);
  timer.unref();
  return {
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

/** A launcher that gives a rank and no local rank leaves it to rank 0. */
function defaultLocalRank(): number {
  const { rank, localRank } = readRank();
  return localRank ?? rank ?? 0;
}

function unlessBusy(work: () => Promise<void>): () => void {
  let isBusy = false;
  return () => {
    if (isBusy) return;
    isBusy = true;
    void work()
      .catch(() => {})
      .finally(() => {
        isBusy = false;
      });
  };
}

type Log = (values: Values, labels?: Record<string, string>) => void;

/** 100 percent are one processor kept busy. */
function processTick(log: Log): () => Promise<void> {
  let lastMs = performance.now();
  let last = process.cpuUsage();
  return async () => {
    const nowMs = performance.now();
    const used = process.cpuUsage(last);
    const percent = (used.user + used.system) / 10 / (nowMs - lastMs);
    last = process.cpuUsage();
    lastMs = nowMs;
    log({ "system/cpu.process.percent": percent, "system/memory.rss": process.memoryUsage.rss() });
  };
}

function machineTick(log: Log, dir: string): () => Promise<void> {
  const meter = new MachineMeter(dir);
  // The rates of the first tick count from here.
  const begun = meter.read().catch(() => ({}));
  return async () => {
    await begun;
    log(await meter.read());
  };
}

function gpuTick(log: Log, env: NodeJS.ProcessEnv): () => Promise<void> {
  let failures = 0;
  return async () => {
    if (failures >= GPU_FAILURES_MAX) return;
    const answer = await readGpuSamples({ timeoutMs: GPU_MS_MAX, keepsAlive: false, env });
    if (!answer.ok) {
      failures = answer.isMissing ? GPU_FAILURES_MAX : failures + 1;
      return;
    }
    failures = 0;
    for (const gpu of answer.gpus) log(gpuValues(gpu), { gpu: String(gpu.index) });
  };
}

function gpuValues(gpu: GpuSample): Values {
  const values: Values = {};
  const add = (key: string, value: number | undefined) => {
    if (value !== undefined) values[key] = value;
  };
  add("system/gpu.utilization", gpu.utilizationPercent);
  add("system/gpu.memory.used", gpu.memoryUsedBytes);
  if (gpu.memoryUsedBytes !== undefined && gpu.memoryTotalBytes) {
    add("system/gpu.memory.percent", (100 * gpu.memoryUsedBytes) / gpu.memoryTotalBytes);
  }
  add("system/gpu.temperature", gpu.temperatureCelsius);
  add("system/gpu.power", gpu.powerWatts);
  return values;
}
