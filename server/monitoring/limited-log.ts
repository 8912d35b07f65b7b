import { Allowance, type AllowanceRate } from "#core/access/passwords/allowance.ts";
import type { ListenLog } from "../listen/listen.ts";

const RATE: AllowanceRate = { burst: 10, everyMs: 10_000 };

type Level = "debug" | "warn" | "error";

interface Kind {
  allowance: Allowance;
  /** The newest line that was left out, and how many were before it. Written when the timer is over. */
  held: { level: Level; facts: object; leftOut: number } | undefined;
}

/**
 * For lines that unknown clients can cause: of each kind ten at once, then one every ten seconds. A line after others
 * were left out is the newest of them and has their number (`leftOut`), so that no client can fill the disk, and all
 * are counted. The message is the
 * kind: it must be fixed text of ours.
 */
export class LimitedLog implements ListenLog {
  readonly #log: ListenLog;
  readonly #rate: AllowanceRate;
  readonly #kinds = new Map<string, Kind>();

  constructor(log: ListenLog, rate: AllowanceRate = RATE) {
    this.#log = log;
    this.#rate = rate;
  }

  debug(facts: object, message: string): void {
    this.#write("debug", facts, message);
  }

  warn(facts: object, message: string): void {
    this.#write("warn", facts, message);
  }

  error(facts: object, message: string): void {
    this.#write("error", facts, message);
  }

  /** Writes held back lines. */
  flush(): void {
    for (const [message, kind] of this.#kinds) this.#release(kind, message);
  }

  #write(level: Level, facts: object, message: string): void {
    let kind = this.#kinds.get(message);
    if (kind === undefined) {
      kind = { allowance: new Allowance(this.#rate, nowUs()), held: undefined };
      this.#kinds.set(message, kind);
    }
    if (kind.held !== undefined) {
      kind.held = { level, facts, leftOut: kind.held.leftOut + 1 };
      return;
    }
    const waitMs = kind.allowance.take(nowUs());
    if (waitMs === 0) {
      this.#log[level](facts, message);
      return;
    }
    kind.held = { level, facts, leftOut: 0 };
    const { allowance } = kind;
    setTimeout(() => {
      allowance.take(nowUs());
      this.#release(kind, message);
    }, waitMs).unref();
  }

  #release(kind: Kind, message: string): void {
    const { held } = kind;
    kind.held = undefined;
    if (held === undefined) return;
    const { level, facts, leftOut } = held;
    this.#log[level](leftOut === 0 ? facts : { ...facts, leftOut }, message);
  }
}

function nowUs(): number {
  return performance.now() * 1000;
}
