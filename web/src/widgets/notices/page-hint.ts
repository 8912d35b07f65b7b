import type { Failure } from "#sdk/failure.ts";

/** Of Connect and gRPC. */
const UNAUTHENTICATED = 16;

type Told = Pick<Failure, "code" | "reason" | "hint" | "facts">;

/** Whether the call was refused because it had no credential, or one that is not valid any more. */
export function isUnauthenticated({ code }: Pick<Told, "code">): boolean {
  return Number(code) === UNAUTHENTICATED;
}

/** What a person at a page can do about a failure; the hints of the server are for programs and terminals. "" for nothing. */
export function pageHint(failure: Told): string {
  // There is a link to the sign-in instead.
  if (isUnauthenticated(failure)) return "";
  const { reason, hint, facts } = failure;
  if (reason === "UNREACHABLE") {
    return "Check that the server is running and that this computer can reach it. The page connects again by itself.";
  }
  if (reason === "NO_RIGHT") {
    const namespace = facts["namespace"] ?? "";
    return `Ask ${namespace === "" ? "an administrator of this server" : "one of its maintainers"} for a role.`;
  }
  return hint;
}
