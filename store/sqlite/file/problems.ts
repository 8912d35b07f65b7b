import { PROBLEMS_MAX } from "#core/ports/engine.ts";

/** Descriptions of damage: the first ones, and their number. */
export class Problems {
  readonly first: string[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(problem: string): void {
    this.#count++;
    if (this.first.length < PROBLEMS_MAX) this.first.push(problem);
  }

  addAll(problems: Iterable<string>, before = ""): void {
    for (const problem of problems) this.add(before + problem);
  }
}
