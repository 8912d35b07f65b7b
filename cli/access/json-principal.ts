import { wordOf } from "#lang/words/enums.ts";
import { isoTime } from "#lang/words/times.ts";
import { PrincipalKind, type Principal } from "#proto/cairn/v1/access_pb.ts";

export function jsonPrincipal(principal: Principal): Record<string, unknown> {
  return {
    name: principal.name,
    kind: wordOf(PrincipalKind, principal.kind),
    displayName: principal.displayName,
    disabled: principal.disabled,
    hasPassword: principal.hasPassword,
    members: principal.members,
    groups: principal.groups,
    created: isoTime(principal.createdUs),
  };
}
