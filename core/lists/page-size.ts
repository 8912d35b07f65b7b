import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";

/** How many items a page has; 0 asks for the default. */
export function pageSize(asked: number, whenZero: number = limits.pageSizeDefault): number {
  if (asked >= 0 && asked <= limits.pageSizeMax) return asked === 0 ? whenZero : asked;
  throw new CairnError("invalid", `cannot return a page of ${asked}: the most is ${limits.pageSizeMax}`);
}
