import { quote } from "#lang/errors.ts";
import { compilePattern } from "#lang/query/pattern.ts";
import { globToRegex } from "#lang/query/wildcards.ts";

const REMEMBERED_MAX = 10_000;

/** Which keys of a run are watched. Each key is matched once and then cached: the same ones are repeated. */
export class KeyFilter {
  readonly #patterns: { test(key: string): boolean }[] = [];
  readonly #known = new Map<string, boolean>();
  #all = false;

  /** Also those that match the glob; "" for all. */
  add(glob: string): void {
    if (glob === "") this.#all = true;
    else this.#patterns.push(compilePattern(globToRegex(glob), `glob of ${quote(glob)}`));
  }

  selects(key: string): boolean {
    if (this.#all) return true;
    let selected = this.#known.get(key);
    if (selected === undefined) {
      selected = this.#patterns.some((pattern) => pattern.test(key));
      if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
      this.#known.set(key, selected);
    }
    return selected;
  }
}
