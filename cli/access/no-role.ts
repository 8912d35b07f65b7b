import { PrincipalKind, type WhoAmIResponse } from "#proto/cairn/v1/access_pb.ts";
import { printable } from "../output/text.ts";

/** What somebody reads who is known to the server but may do nothing there; empty for everybody else. */
export function noRoleLines({ principal, token, bindings }: WhoAmIResponse): string[] {
  const isStored = principal?.kind === PrincipalKind.USER || principal?.kind === PrincipalKind.SERVICE;
  if (!isStored || bindings.length > 0) return [];
  const name = printable(principal.name);
  const isBounded = token !== undefined && token.namespaces.length > 0;
  return [
    isBounded
      ? "This token has no role where it is valid: it can neither read nor write anything."
      : "You have no role on this server yet: you can neither read nor write anything.",
    `Ask an administrator of it for one: \`cairn access grant writer ${name} NAMESPACE\`, or the page Access.`,
  ];
}
