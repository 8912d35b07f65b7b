import { getOption, type DescMethod, type DescService } from "@bufbuild/protobuf";
import type { Permission } from "#core/types/permission.ts";
import { CairnError } from "#lang/errors.ts";
import { permission, Permission as Declared } from "#proto/cairn/v1/permission_pb.ts";

const NAMES: Readonly<Record<number, Permission>> = {
  [Declared.PUBLIC]: "public",
  [Declared.READ]: "read",
  [Declared.WRITE]: "write",
  [Declared.MAINTAIN]: "maintain",
  [Declared.ADMINISTER]: "administer",
};

export interface Service {
  desc: DescService;
  /** For services whose proto is not ours and so cannot declare it. */
  permission?: Permission;
}

/**
 * What every method needs, by "package.Service/Method". Throws at start when one does not declare it: a
 * method without a declaration must not be callable.
 */
export function permissionTable(services: readonly Service[]): ReadonlyMap<string, Permission> {
  const table = new Map<string, Permission>();
  for (const { desc, permission: given } of services) {
    for (const method of desc.methods) {
      const needed = given ?? NAMES[getOption(method, permission)];
      if (needed === undefined) {
        throw new CairnError("internal", `cannot serve "${methodName(method)}": it declares no permission`, {
          hint: "add `option (permission) = …` to the method in its .proto file",
        });
      }
      table.set(methodName(method), needed);
    }
  }
  return table;
}

export function methodName(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}
