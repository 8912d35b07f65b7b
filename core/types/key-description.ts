import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireKey, requireText } from "./check.ts";
import type { KeyDescription } from "./namespace.ts";

export function requireKeyDescription({ key, unit, description, min, max }: KeyDescription): void {
  requireKey(key, "metric key");
  requireText(unit, limits.nameBytesMax, `unit of ${quote(key)}`);
  requireText(description, limits.descriptionBytesMax, "description");
  for (const end of [min, max]) {
    if (end === undefined || Number.isFinite(end)) continue;
    throw new CairnError("invalid", `cannot describe key ${quote(key)}: an end of its range is "${end}"`);
  }
  if (min === undefined || max === undefined || min < max) return;
  throw new CairnError("invalid", `cannot describe key ${quote(key)}: its range is from ${min} to ${max}`, {
    hint: "min is below max",
  });
}

/** `held` with what it does not say, from `given`; `held` itself where that is nothing. */
export function completedKey(held: KeyDescription, given: KeyDescription): KeyDescription {
  const completed = {
    ...held,
    unit: held.unit || given.unit,
    direction: held.direction ?? given.direction,
    description: held.description || given.description,
    picture: held.picture ?? given.picture,
    min: held.min ?? given.min,
    max: held.max ?? given.max,
  };
  // Ends of two ranges need not make one.
  if (completed.min !== undefined && completed.max !== undefined && completed.min >= completed.max) {
    completed.min = held.min;
    completed.max = held.max;
  }
  return isSameKey(completed, held) ? held : completed;
}

function isSameKey(a: KeyDescription, b: KeyDescription): boolean {
  return (
    a.unit === b.unit &&
    a.direction === b.direction &&
    a.description === b.description &&
    a.picture === b.picture &&
    a.min === b.min &&
    a.max === b.max
  );
}
