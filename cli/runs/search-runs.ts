import { printField } from "#lang/query/field-text.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import type { TableField } from "./table-field.ts";

const PAGE = 1_000;

export interface RunSearch {
  query: string;
  namespace: string;
  trashed: boolean;
  /** Infinity for all. */
  limit: number;
}

export interface FoundRuns {
  runs: Run[];
  /** All that match. */
  totalCount: number;
  /** Of the first page: a watch from there has every change of them. */
  position: string;
}

/** The first `limit` runs that match, in pages. `columns` are those of SearchRuns. */
export async function searchRuns(
  server: Cairn,
  { query, namespace, trashed, limit }: RunSearch,
  columns: readonly string[],
  onPage?: (soFar: number, totalCount: number) => void,
): Promise<FoundRuns> {
  const runs: Run[] = [];
  let position = "";
  for (let pageToken = ""; ;) {
    const pageSize = Math.max(1, Math.min(PAGE, limit - runs.length));
    const answer = await server.runs.searchRuns({
      query,
      namespace,
      trashed,
      pageSize,
      pageToken,
      columns: [...columns],
    });
    if (pageToken === "") ({ position } = answer);
    runs.push(...answer.runs);
    onPage?.(runs.length, Number(answer.totalCount));
    pageToken = answer.nextPageToken;
    if (pageToken === "" || runs.length >= limit) {
      return { runs: runs.slice(0, limit), totalCount: Number(answer.totalCount), position };
    }
  }
}

/** What a search must fill in to show these fields. Never empty, because that would mean nearly everything. */
export function columnsFor(fields: readonly TableField[]): string[] {
  const columns = new Set<string>();
  for (const field of fields) {
    if (field.of === "age") continue;
    if (field.of === "best") for (const metric of field.byNamespace.values()) columns.add(printField(metric));
    else if (field.of !== "run") columns.add(printField(field));
    else if (field.name === "alias") columns.add("aliases");
    else if (field.name === "notes") columns.add("notes");
  }
  return columns.size === 0 ? ["aliases"] : [...columns];
}
