/**
 * Which run of this process captures for a job: the one that the program began by `init()`, else the one that a tracker of
 * TorchX began by itself. Nothing is captured twice.
 */
interface HandsOver {
  /** Captures nothing from now on, and leaves it to another run of the process to say how the job ended. */
  handOver(): void;
}

/** By the alias of the job. */
const ofTracker = new Map<string, HandsOver>();
const ofProgram = new Set<string>();

export function programBegins(alias: string): void {
  ofProgram.add(alias);
  ofTracker.get(alias)?.handOver();
  ofTracker.delete(alias);
}

export function isCaptured(alias: string): boolean {
  return ofProgram.has(alias) || ofTracker.has(alias);
}

/** `begin` may take a moment: the program may begin its own run meanwhile. */
export async function trackerBegins(alias: string, begin: () => Promise<HandsOver>): Promise<void> {
  let isOver = false;
  ofTracker.set(alias, { handOver: () => (isOver = true) });
  try {
    const run = await begin();
    if (isOver) run.handOver();
    else ofTracker.set(alias, run);
  } catch (thrown) {
    ofTracker.delete(alias);
    throw thrown;
  }
}
