import { InvalidArgumentError } from "commander";
import { Role } from "#proto/cairn/v1/access_pb.ts";
import { valueOf } from "#lang/words/enums.ts";

export const ROLE_WORDS = ["viewer", "writer", "maintainer", "admin"] as const;

/** For an argument or option that is a role. */
export function parseRole(word: string): Role {
  const role = valueOf(Role, word);
  if (role === undefined) throw new InvalidArgumentError(`must be one of ${ROLE_WORDS.join(", ")}`);
  return role;
}
