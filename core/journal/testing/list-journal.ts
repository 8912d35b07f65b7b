import type { JournalChange, JournalPart, JournalPoints, JournalReader } from "../../ports/journal.ts";

/** A minimal journal: a list of changes, each at the next position. It keeps no points. */
export class ListJournal implements JournalReader {
  readonly #noted: JournalChange[] = [];
  readonly #wakes = new Set<() => void>();
  secret = "a secret";
  floor = 0;
  /** Whether wake-ups arrive. */
  wakes = true;
  last = 0;
  asked = 0;
  /** Whether reads are refused. */
  fails = false;

  note(runId: string, what: number): void {
    const namespace = `of ${runId}`;
    this.#noted.push({ position: ++this.last, runId, namespace, what, envelopes: 0 });
    if (this.wakes) for (const wake of this.#wakes) wake();
  }

  position(): number {
    return this.last;
  }

  changesSince(since: number | undefined, kinds: number): Promise<JournalPart> {
    this.asked++;
    if (this.fails) return Promise.reject(new Error("cannot read the journal"));
    const { secret, floor, last: position } = this;
    const known = since === undefined || since < floor ? [] : this.#noted;
    const changes = known.filter(({ position: at, what }) => at > (since ?? 0) && (what & kinds) !== 0);
    return Promise.resolve({ secret, floor, position, changes });
  }

  readPoints(): Promise<JournalPoints | undefined> {
    return Promise.resolve(undefined);
  }

  subscribe(wake: () => void): () => void {
    this.#wakes.add(wake);
    return () => this.#wakes.delete(wake);
  }
}
