/**
 * From a query over models and their runs to one filter over the rows of models. Terms about runs are evaluated first, over the
 * rows of runs, like a search of runs: a table with one bit per run, in which each model looks up its run. A query may need
 * hundreds of them.
 */
import type { ModelSearchRequest } from "#core/ports/run-search.ts";
import type { Expression } from "#lang/query/ast.ts";
import { BLOCK_ROWS } from "../cells/cells.ts";
import type { MaskTable } from "../masks/mask-table.ts";
import { selectBlock } from "../search/blocks.ts";
import type { Compiler } from "../search/compile.ts";
import { allOf, anyOf, opposite, type Term } from "../search/filter.ts";
import type { SearchDeadline } from "../search/search-deadline.ts";
import type { ModelColumns } from "./model-columns.ts";

/** The cost of reading a bit of another table, in units of comparing a number. */
const TABLE_COST = 3;

const selection = new Uint16Array(BLOCK_ROWS);

export interface ModelFilterParts {
  /** One that knows the models, too. */
  compiler: Compiler;
  models: ModelColumns;
  /** The number of rows of runs. */
  runRows: number;
  /** The row of a run by its id. */
  findRun: (id: string) => number | undefined;
  deadline: SearchDeadline;
}

export class ModelFilter {
  readonly #parts: ModelFilterParts;

  constructor(parts: ModelFilterParts) {
    this.#parts = parts;
  }

  /** The models of the runs that the request selects, without those that are hidden. */
  of({ query, under, hidden }: ModelSearchRequest, readable: MaskTable | undefined): Term {
    const { where } = query;
    const all = where === undefined ? [] : where.op === "and" ? where.terms : [where];
    const { ofModels, ofRuns } = divide(all);
    const runs = {
      where: ofRuns.length === 0 ? undefined : ({ op: "and", terms: ofRuns } as const),
      orderBy: [],
    };
    const selected = this.#parts.compiler.filter({ query: runs, under, trashed: false }, readable);
    const terms = [this.#throughRuns(selected), ...ofModels.map((term) => this.#term(term))];
    if (hidden.size > 0) terms.push(opposite(this.#named(hidden)));
    return allOf(terms);
  }

  #term(expression: Expression): Term {
    const { compiler } = this.#parts;
    switch (expression.op) {
      case "and":
      case "or": {
        const join = expression.op === "and" ? allOf : anyOf;
        const { ofModels, ofRuns } = divide(expression.terms);
        const terms = ofModels.map((term) => this.#term(term));
        if (ofRuns.length > 0) terms.push(this.#throughRuns(join(ofRuns.map((term) => compiler.term(term)))));
        return join(terms);
      }
      case "not":
        return opposite(this.#term(expression.term));
      default:
        return compiler.term(expression);
    }
  }

  /** Models whose run passes. */
  #throughRuns(term: Term): Term {
    const { models, runRows, deadline } = this.#parts;
    const passes = new Uint8Array(Math.ceil(runRows / 8));
    for (let lo = 0; lo < runRows; lo += BLOCK_ROWS) {
      deadline.check();
      const count = selectBlock(term, lo, Math.min(lo + BLOCK_ROWS, runRows), selection);
      for (let at = 0; at < count; at++) {
        const run = lo + selection[at]!;
        passes[run >> 3]! |= 1 << (run & 7);
      }
    }
    return rowTest((row) => {
      const run = models.runOf(row);
      return run !== undefined && (passes[run >> 3]! & (1 << (run & 7))) !== 0;
    });
  }

  /** Models with one of these names in a run, which is given by its id. */
  #named(names: ReadonlyMap<string, readonly string[]>): Term {
    const { models, findRun } = this.#parts;
    const { name } = models.fields;
    const codes = new Map<number, ReadonlySet<number | undefined>>();
    for (const [id, own] of names) {
      const run = findRun(id);
      if (run !== undefined) codes.set(run, new Set(own.map((text) => name.findCode(text))));
    }
    return rowTest((row) => codes.get(models.runOf(row)!)?.has(name.cells.code(row)) === true);
  }
}

function rowTest(test: (row: number) => boolean): Term {
  return {
    filter: {
      cost: TABLE_COST,
      keep(lo, _hi, offsets, count, flip) {
        let kept = 0;
        for (let at = 0; at < count; at++) {
          const offset = offsets[at]!;
          offsets[kept] = offset;
          kept += Number(test(lo + offset)) ^ flip;
        }
        return kept;
      },
    },
    flip: 0,
  };
}

/** Terms about models, and those about runs alone. */
function divide(terms: readonly Expression[]): { ofModels: Expression[]; ofRuns: Expression[] } {
  return { ofModels: terms.filter(asksModels), ofRuns: terms.filter((term) => !asksModels(term)) };
}

function asksModels(expression: Expression): boolean {
  switch (expression.op) {
    case "and":
    case "or":
      return expression.terms.some(asksModels);
    case "not":
      return asksModels(expression.term);
    case "under":
      return false;
    default:
      return expression.field.of === "model";
  }
}
