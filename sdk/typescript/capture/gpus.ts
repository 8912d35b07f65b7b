import { runProgram } from "./run-program.ts";

export interface GpuModel {
  index: number;
  name: string;
  driver: string;
  memoryBytes?: number | undefined;
}

/** Values that a GPU does not measure are absent. */
export interface GpuSample {
  index: number;
  utilizationPercent?: number | undefined;
  memoryUsedBytes?: number | undefined;
  memoryTotalBytes?: number | undefined;
  temperatureCelsius?: number | undefined;
  powerWatts?: number | undefined;
}

export type Answer<T> = { ok: true; gpus: T[] } | { ok: false; isMissing: boolean; cause: string };

const MODEL_FIELDS = "index,name,driver_version,memory.total";
const SAMPLE_FIELDS = "index,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw";
const OUTPUT_BYTES_MAX = 1 << 20;
const GPUS_MAX = 128;
const MIB = 1 << 20;

interface AskOptions {
  timeoutMs: number;
  keepsAlive: boolean;
  env?: NodeJS.ProcessEnv;
}

export function readGpuModels(options: AskOptions): Promise<Answer<GpuModel>> {
  return ask(MODEL_FIELDS, parseGpuModels, options);
}

export function readGpuSamples(options: AskOptions): Promise<Answer<GpuSample>> {
  return ask(SAMPLE_FIELDS, parseGpuSamples, options);
}

async function ask<T>(fields: string, parse: (text: string) => T[], options: AskOptions): Promise<Answer<T>> {
  const args = [`--query-gpu=${fields}`, "--format=csv,noheader,nounits"];
  const outcome = await runProgram("nvidia-smi", args, { ...options, outputBytesMax: OUTPUT_BYTES_MAX });
  if (!outcome.ok) return { ok: false, isMissing: outcome.why === "missing", cause: outcome.cause };
  const text = outcome.stdout.toString();
  const gpus = parse(text);
  // A driver that does not answer is reported on standard output, with the exit code of success in some versions.
  if (gpus.length === 0) return { ok: false, isMissing: false, cause: text.trim().slice(0, 200) };
  return { ok: true, gpus };
}

/** Lines such as `0, NVIDIA H200, 580.159.04, 143771`. */
export function parseGpuModels(text: string): GpuModel[] {
  return rowsOf(text, 4).map(([index, name, driver, memory]) => ({
    index: Number(index),
    name: name!,
    driver: driver!,
    memoryBytes: measured(memory!, MIB),
  }));
}

/** Lines such as `0, 97, 81559, 143771, 61, 402.11`. */
export function parseGpuSamples(text: string): GpuSample[] {
  return rowsOf(text, 6).map(([index, utilization, used, total, temperature, power]) => ({
    index: Number(index),
    utilizationPercent: measured(utilization!, 1),
    memoryUsedBytes: measured(used!, MIB),
    memoryTotalBytes: measured(total!, MIB),
    temperatureCelsius: measured(temperature!, 1),
    powerWatts: measured(power!, 1),
  }));
}

function rowsOf(text: string, columns: number): string[][] {
  return text
    .split(/\r?\n/)
    .map((line) => line.split(",").map((cell) => cell.trim()))
    .filter((cells) => cells.length === columns && /^\d{1,4}$/.test(cells[0]!))
    .slice(0, GPUS_MAX);
}

/** `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `ERR!` and the like are not measurements. */
function measured(cell: string, unit: number): number | undefined {
  return /^\d+(?:\.\d+)?$/.test(cell) ? Number(cell) * unit : undefined;
}
