import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Key } from "../screen/keys.ts";
import { TopRow } from "./top-row.ts";

export const SORTS = ["age", "name", "step", "pace", "value", "seen"] as const;
export type Sort = (typeof SORTS)[number];

/** How long a run is shown after its end, with its final status. */
const ENDED_MS = 15_000;

export type View = "list" | "details" | "help";

/** The state of the live view and the user's choices. Does not draw or make calls. */
export class TopState {
  readonly rows = new Map<string, TopRow>();
  /** The number of all matches, including those that are not shown. */
  matching = 0;
  sort: Sort = "age";
  reversed = false;
  view: View = "list";
  filter = "";
  /** Whether keys are letters of the filter. */
  typing = false;
  selectedId: string | undefined;
  /** Which metric of the run the details show. */
  metricAt = 0;
  /** Why the connection is lost; empty when it is not. */
  trouble = "";

  putRun(run: Run, nowMs: number): TopRow {
    let row = this.rows.get(run.id);
    if (row === undefined) {
      row = new TopRow(run);
      this.rows.set(run.id, row);
    }
    row.update(run, nowMs);
    return row;
  }

  /** Removes runs that ended long enough ago, except the one whose details are open. */
  tidy(nowMs: number): void {
    for (const [id, { endedMs }] of this.rows) {
      const looked = this.view === "details" && id === this.selectedId;
      if (endedMs !== undefined && nowMs - endedMs > ENDED_MS && !looked) this.rows.delete(id);
    }
  }

  /** The rows to show, in their order. */
  visible(): TopRow[] {
    const wanted = this.filter.toLowerCase();
    const rows = [...this.rows.values()].filter(({ run }) =>
      [run.name, run.namespace, ...Object.values(run.tags)].some((text) =>
        text.toLowerCase().includes(wanted),
      ),
    );
    const sign = this.reversed ? -1 : 1;
    return rows.sort(
      (a, b) =>
        sign * compare(this.sort, a, b) ||
        a.run.name.localeCompare(b.run.name) ||
        (a.run.id < b.run.id ? -1 : 1),
    );
  }

  get selected(): TopRow | undefined {
    return this.selectedId === undefined ? undefined : this.rows.get(this.selectedId);
  }

  /** Handles a key; "quit" when the user quits. */
  press(key: Key): "quit" | "details" | undefined {
    if (this.typing) {
      this.#type(key);
      return undefined;
    }
    if (this.view === "help") {
      this.view = "list";
      return undefined;
    }
    switch (key) {
      case "q":
        if (this.view === "list") return "quit";
        this.view = "list";
        return undefined;
      case "escape":
      case "backspace":
        this.view = "list";
        return undefined;
      case "up":
      case "k":
        this.#move(-1);
        return undefined;
      case "down":
      case "j":
        this.#move(1);
        return undefined;
      case "page-up":
        this.#move(-10);
        return undefined;
      case "page-down":
        this.#move(10);
        return undefined;
      case "home":
      case "g":
        this.#move(-Infinity);
        return undefined;
      case "end":
      case "G":
        this.#move(Infinity);
        return undefined;
      case "enter":
        return this.#open();
      case "tab":
      case "right":
      case "l":
        this.metricAt++;
        return undefined;
      case "left":
      case "h":
        this.metricAt--;
        return undefined;
      case "/":
        this.typing = true;
        this.view = "list";
        return undefined;
      case "s":
        this.sort = SORTS[(SORTS.indexOf(this.sort) + 1) % SORTS.length]!;
        return undefined;
      case "r":
        this.reversed = !this.reversed;
        return undefined;
      case "?":
        this.view = "help";
        return undefined;
      default:
        return undefined;
    }
  }

  #type(key: Key): void {
    if (key === "enter") this.typing = false;
    else if (key === "escape") {
      this.typing = false;
      this.filter = "";
    } else if (key === "backspace") this.filter = Array.from(this.filter).slice(0, -1).join("");
    else if (key === "ctrl-u") this.filter = "";
    // Names of keys are longer than what a key types.
    else if (Array.from(key).length === 1) this.filter += key;
  }

  #open(): "details" | undefined {
    if (this.view === "details") {
      this.view = "list";
      return undefined;
    }
    this.selectedId ??= this.visible()[0]?.run.id;
    if (this.selected === undefined) return undefined;
    this.view = "details";
    this.metricAt = 0;
    return "details";
  }

  #move(by: number): void {
    const rows = this.visible();
    if (rows.length === 0) return;
    const at = rows.findIndex(({ run }) => run.id === this.selectedId);
    const from = at < 0 ? (by > 0 ? -1 : 0) : at;
    this.selectedId = rows[Math.min(rows.length - 1, Math.max(0, from + by))]!.run.id;
    this.metricAt = 0;
  }
}

/** Newest, fastest and most recently seen first; what is missing comes last. */
function compare(sort: Sort, a: TopRow, b: TopRow): number {
  switch (sort) {
    case "name":
      return a.run.name.localeCompare(b.run.name);
    case "age":
      return Number(b.run.startedUs - a.run.startedUs);
    case "step":
      return (b.step ?? -1) - (a.step ?? -1);
    case "pace":
      return (b.pace ?? -1) - (a.pace ?? -1);
    case "seen":
      return b.seenMs - a.seenMs;
    case "value":
      return valueOf(a) - valueOf(b) || 0;
  }
}

function valueOf(row: TopRow): number {
  const key = row.shown(1)[0];
  const value = key === undefined ? NaN : row.keys.get(key)!.history.last;
  return Number.isNaN(value) ? Number.MAX_VALUE : Math.min(Number.MAX_VALUE, value);
}
