import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CircleUser } from "lucide-react";
import { PrincipalKind } from "#proto/cairn/v1/access_pb.ts";
import { whoAmI } from "../data/queries.ts";
import { forgetSession, signOut } from "../data/session.ts";
import { Button } from "../widgets/button.tsx";
import { Menu, MenuItem } from "../widgets/menu.tsx";
import { cutText, visibleText } from "../widgets/text.ts";

/** Who is signed in. On one's own machine nobody needs to be. */
export function AccountMenu() {
  const { data } = useQuery(whoAmI);
  const navigate = useNavigate();
  const principal = data?.principal;
  if (principal === undefined || data?.token === undefined || principal.kind === PrincipalKind.ANONYMOUS)
    return null;
  const name = cutText(visibleText(principal.displayName || principal.name), 24);
  const leave = async () => {
    await signOut();
    await navigate({ to: "/login" });
    forgetSession();
  };
  return (
    <Menu
      align="end"
      trigger={
        <Button quiet title={`Signed in as ${name}`}>
          <CircleUser size={16} aria-hidden /> {name}
        </Button>
      }
    >
      <MenuItem onClick={() => void navigate({ to: "/access" })}>Access and tokens</MenuItem>
      <MenuItem onClick={() => void leave()}>Sign out</MenuItem>
    </Menu>
  );
}
