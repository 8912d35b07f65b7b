import { useQuery } from "@tanstack/react-query";
import { whoAmI } from "../../data/queries.ts";
import { TextField } from "../../widgets/fields/text-field.tsx";
import styles from "./access.module.css";

/** A session requires the password to make something that outlives it; the owner of the machine has no session. */
type OwnPasswordNeed = "needed" | "missing" | "not needed";

export function useOwnPasswordNeed(): OwnPasswordNeed {
  const { data: me } = useQuery(whoAmI);
  if (me?.token === undefined) return "not needed";
  return me.principal?.hasPassword === true ? "needed" : "missing";
}

/** A password field, if the session requires it. */
export function OwnPassword({
  makes,
  without,
  hint,
  value,
  onChange,
}: {
  /** What is made with it. */
  makes: string;
  /** The command that does the same with a token. */
  without: string;
  hint: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const need = useOwnPasswordNeed();
  if (need === "not needed") return null;
  if (need === "missing") {
    return (
      <p className={styles.warn}>
        A session can make {makes} only with your password, and you have none. Use the token you signed in
        with: <code>{without}</code>.
      </p>
    );
  }
  return (
    <TextField
      label="Your password"
      type="password"
      value={value}
      onChange={onChange}
      autoComplete="current-password"
      hint={hint}
    />
  );
}
