import { useState } from "react";
import { SELECTED_IN_ADDRESS_MAX, type SearchPatch } from "./search.ts";

/** The most runs for one action. */
export const SELECTED_MAX = 5_000;

/** The selected runs. A few are in the address; very many are only kept while the page is open. */
export function useSelection(
  inAddress: readonly string[] | undefined,
  setSearch: (patch: SearchPatch) => void,
): { selected: ReadonlySet<string>; select: (ids: Iterable<string>) => void } {
  const [many, setMany] = useState<ReadonlySet<string>>(new Set());
  const selected = inAddress === undefined ? many : new Set(inAddress);
  const select = (ids: Iterable<string>) => {
    const list = [...new Set(ids)].slice(0, SELECTED_MAX);
    const fits = list.length <= SELECTED_IN_ADDRESS_MAX;
    setMany(fits ? new Set() : new Set(list));
    setSearch({ sel: fits && list.length > 0 ? list : undefined });
  };
  return { selected, select };
}
