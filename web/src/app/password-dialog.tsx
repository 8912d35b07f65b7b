import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Principal } from "#proto/cairn/v1/access_pb.ts";
import { whoAmI } from "../data/queries.ts";
import { cairn } from "../data/server.ts";
import { Button } from "../widgets/button.tsx";
import { Dialog } from "../widgets/popups/dialog.tsx";
import { ErrorNote } from "../widgets/notices/error-note.tsx";
import { TextField } from "../widgets/fields/text-field.tsx";
import styles from "./password-dialog.module.css";

/** One's own password: changed with the old one; an administrator without one sets the first. */
export function PasswordDialog({
  principal: { name, hasPassword },
  open,
  onClose,
}: {
  principal: Principal;
  open: boolean;
  onClose: () => void;
}) {
  const [oldPassword, setOld] = useState("");
  const [newPassword, setNew] = useState("");
  const [again, setAgain] = useState("");
  const change = useChangePassword({ name, hasPassword }, () => close());
  const close = () => {
    onClose();
    setOld("");
    setNew("");
    setAgain("");
    change.reset();
  };
  const differs = again !== "" && again !== newPassword;
  const isReady = newPassword !== "" && again === newPassword && (!hasPassword || oldPassword !== "");
  return (
    <Dialog
      title={hasPassword ? "Change password" : "Set a password"}
      open={open}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            primary
            onClick={() => change.mutate({ oldPassword, newPassword })}
            disabled={!isReady || change.isPending}
          >
            {hasPassword ? "Change it" : "Set it"}
          </Button>
        </>
      }
    >
      <div className={styles.form}>
        {hasPassword && (
          <TextField
            label="Old password"
            type="password"
            value={oldPassword}
            onChange={setOld}
            autoComplete="current-password"
          />
        )}
        <TextField
          label="New password"
          type="password"
          value={newPassword}
          onChange={setNew}
          autoComplete="new-password"
          hint="At least 8 characters; a sentence works well."
        />
        <TextField
          label="Repeat it"
          type="password"
          value={again}
          onChange={setAgain}
          autoComplete="new-password"
          {...(differs && { error: "The passwords differ." })}
        />
        <p className={styles.note}>
          {hasPassword
            ? "Ends your other sessions and every token that was made with the old password."
            : "This ends the first admin token: if you signed in with it, sign in again with the password."}
        </p>
        {change.error !== null && <ErrorNote error={change.error} />}
      </div>
    </Dialog>
  );
}

function useChangePassword(
  { name, hasPassword }: Pick<Principal, "name" | "hasPassword">,
  onChanged: () => void,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ oldPassword, newPassword }: { oldPassword: string; newPassword: string }) => {
      if (hasPassword) await cairn.access.changePassword({ oldPassword, newPassword });
      else await cairn.access.updatePrincipal({ name, password: newPassword });
    },
    onSuccess: async () => {
      onChanged();
      await client.invalidateQueries({ queryKey: whoAmI.queryKey });
    },
  });
}
