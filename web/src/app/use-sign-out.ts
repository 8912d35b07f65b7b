import { useNavigate } from "@tanstack/react-router";
import { forgetSession, signOut } from "../data/session.ts";

/** Ends the session and shows the sign-in. */
export function useSignOut(): () => Promise<void> {
  const navigate = useNavigate();
  return async () => {
    await signOut();
    await navigate({ to: "/login" });
    forgetSession();
  };
}
