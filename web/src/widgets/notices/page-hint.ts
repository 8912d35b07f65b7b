import type { Failure } from "#sdk/failure.ts";

/** What a person at a page can do about a failure; the hints of the server are for programs and terminals. "" for nothing. */
export function pageHint({ needsCredential, reason, hint, facts }: Failure): string {
  // There is a link to the sign-in instead.
  if (needsCredential) return "";
  if (reason === "UNREACHABLE") {
    return "Check that the server is running and that this computer can reach it. The page connects again by itself.";
  }
  if (reason === "NO_RIGHT") {
    const namespace = facts["namespace"] ?? "";
    return `Ask ${namespace === "" ? "an administrator of this server" : "one of its maintainers"} for a role.`;
  }
  return hint;
}
