import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";

const OWNER_KEYS = ["owner", "user", "author"];
const HOST_KEYS = ["host", "hostname", "node"];
const GPU_KEYS = ["gpu", "gpus", "accelerator", "accelerators"];
/** As many as the command line takes: the first 12 are the time, so that runs of one millisecond differ only behind them. */
const ID_SHOWN = 16;

/** The user who started it, from tags or the environment. */
export function ownerOf({ tags, provenance }: Run): string {
  return firstOf(tags, OWNER_KEYS) || firstOf(provenance?.environment ?? {}, OWNER_KEYS);
}

/** Machine and accelerators. */
export function machineOf({ provenance }: Run): string {
  const environment = provenance?.environment ?? {};
  const counts = new Map<string, number>();
  for (const [key, model] of Object.entries(environment)) {
    // Clients name them one by one, or all in one text.
    if (/^gpu\.\d+$/.test(key)) counts.set(model, (counts.get(model) ?? 0) + 1);
  }
  const gpus = [...counts].map(([model, count]) => (count === 1 ? model : `${count} × ${model}`)).join(", ");
  return [firstOf(environment, HOST_KEYS), gpus || firstOf(environment, GPU_KEYS)]
    .filter((part) => part !== "")
    .join(" · ");
}

function firstOf(entries: Readonly<Record<string, string>>, keys: readonly string[]): string {
  for (const key of keys) if (Object.hasOwn(entries, key) && entries[key] !== "") return entries[key]!;
  return "";
}

export function isGoingOn({ status }: Run): boolean {
  return status === RunStatus.RUNNING;
}

/** How long it took, or has been running; undefined if it never began. */
export function durationUs(
  { startedUs, endedUs, status, updatedUs }: Run,
  nowMs: number,
): number | undefined {
  if (startedUs === 0n || status === RunStatus.SCHEDULED) return undefined;
  const end =
    endedUs !== 0n ? Number(endedUs) : status === RunStatus.RUNNING ? nowMs * 1_000 : Number(updatedUs);
  return Math.max(0, end - Number(startedUs));
}

/** The part of an id that is enough to name the run. */
export function shortId(id: string): string {
  return id.slice(0, ID_SHOWN);
}
