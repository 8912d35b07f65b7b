import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";
import { useConnection } from "../data/live/hooks.ts";
import { onSignedOut } from "../data/signed-out.ts";

/** Redirects to the sign-in when the server requires a credential, and from there back. */
export function useSignedOut(): void {
  const { state } = useConnection();
  const { pathname, href } = useLocation();
  const navigate = useNavigate();
  const leave = useEffectEvent(() => {
    if (pathname === "/login") return;
    void navigate({ to: "/login", search: href === "/" ? {} : { next: href }, replace: true });
  });
  useEffect(() => onSignedOut(() => leave()), []);
  useEffect(() => {
    if (state === "signed-out") leave();
  }, [state]);
}
