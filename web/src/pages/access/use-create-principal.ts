import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import type { PrincipalKind } from "#proto/cairn/v1/access_pb.ts";
import { cairn } from "../../data/server.ts";
import { roleOf, type RoleChoice } from "./access-data.ts";

interface NewPrincipal {
  name: string;
  displayName: string;
  kind: PrincipalKind;
  password: string;
  yourPassword: string;
  /** "0" for none. */
  role: RoleChoice | "0";
  /** "" for everything. */
  namespace: string;
}

/** Makes a principal and gives it a first role. When only the role was refused, the next try does not make it again. */
export function useCreatePrincipal(onCreated: () => Promise<unknown>) {
  const made = useRef("");
  return useMutation({
    mutationFn: async ({ role, namespace, ...principal }: NewPrincipal) => {
      if (made.current !== principal.name) await cairn.access.createPrincipal(principal);
      made.current = principal.name;
      if (role === "0") return;
      await cairn.access.bindRole({
        principal: principal.name,
        role: roleOf(role),
        scope: { namespace },
      });
    },
    onSuccess: async () => {
      made.current = "";
      await onCreated();
    },
  });
}
