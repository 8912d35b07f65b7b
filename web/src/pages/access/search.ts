export const ACCESS_TABS = ["tokens", "scopes", "people", "audit"] as const;
export type AccessTab = (typeof ACCESS_TABS)[number];

/** The parameters of the address of the access page. */
export interface AccessSearch {
  tab?: AccessTab;
  /** The namespace whose roles are shown; absent for the root of everything. */
  scope?: string;
  /** The owner of the listed tokens; absent for the own ones. */
  of?: string;
}

export function readAccessSearch(given: Record<string, unknown>): AccessSearch {
  const tab = ACCESS_TABS.find((one) => one === given["tab"]);
  const { scope, of } = given;
  return {
    ...(tab !== undefined && { tab }),
    ...(typeof scope === "string" && scope !== "" && { scope }),
    ...(typeof of === "string" && of !== "" && { of }),
  };
}
