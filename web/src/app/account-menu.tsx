import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { PrincipalKind, Role, type WhoAmIResponse } from "#proto/cairn/v1/access_pb.ts";
import { whoAmI } from "../data/queries.ts";
import { Button } from "../widgets/button.tsx";
import { CircleUser } from "../widgets/icons/icons.ts";
import { Menu, MenuItem } from "../widgets/popups/menu.tsx";
import { cutText, visibleText } from "../prepare/visible-text.ts";
import { SignInLink } from "../widgets/notices/sign-in-link.tsx";
import { PasswordDialog } from "./password-dialog.tsx";
import { useSignOut } from "./use-sign-out.ts";

/** Who is signed in. On the own machine signing in is not needed. */
export function AccountMenu() {
  const { data } = useQuery(whoAmI);
  const navigate = useNavigate();
  const [isChanging, setChanging] = useState(false);
  const leave = useSignOut();
  const principal = data?.principal;
  if (principal?.kind === PrincipalKind.ANONYMOUS) return <SignInLink />;
  if (principal === undefined || data?.token === undefined) return null;
  const name = cutText(visibleText(principal.displayName || principal.name), 24);
  const mayChange = principal.hasPassword || (principal.kind === PrincipalKind.USER && administers(data));
  return (
    <>
      <Menu
        align="end"
        trigger={
          <Button quiet title={`Signed in as ${name}`}>
            <CircleUser size={16} aria-hidden /> {name}
          </Button>
        }
      >
        <MenuItem onClick={() => void navigate({ to: "/access" })}>Access and tokens</MenuItem>
        {mayChange && (
          <MenuItem onClick={() => setChanging(true)}>
            {principal.hasPassword ? "Change password …" : "Set a password …"}
          </MenuItem>
        )}
        <MenuItem onClick={() => void leave()}>Sign out</MenuItem>
      </Menu>
      <PasswordDialog principal={principal} open={isChanging} onClose={() => setChanging(false)} />
    </>
  );
}

/** Of the root: who may set passwords. */
function administers({ bindings }: WhoAmIResponse): boolean {
  return bindings.some(
    ({ role, scope }) => role === Role.ADMIN && scope?.namespace === "" && scope.runId === "",
  );
}
