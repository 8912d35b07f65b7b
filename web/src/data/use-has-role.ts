import { useQuery } from "@tanstack/react-query";
import type { Role } from "#proto/cairn/v1/access_pb.ts";
import { whoAmI } from "./queries.ts";
import { hasRole, hasRoleSomewhere, type Place } from "./rights.ts";

/** Whether controls for the role are shown there; not before the server has answered who the caller is. */
export function useHasRole(role: Role, place: Place): boolean {
  const { data } = useQuery(whoAmI);
  return data !== undefined && hasRole(data, role, place);
}

/** For controls over things of many places, each of which the server may refuse. */
export function useHasRoleSomewhere(role: Role): boolean {
  const { data } = useQuery(whoAmI);
  return data !== undefined && hasRoleSomewhere(data, role);
}
