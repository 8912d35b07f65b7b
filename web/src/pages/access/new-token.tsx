import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { Dialog } from "../../widgets/popups/dialog.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Select } from "../../widgets/fields/select.tsx";
import { TextField } from "../../widgets/fields/text-field.tsx";
import { ROLE_CHOICES, roleOf, type RoleChoice } from "./access-data.ts";
import styles from "./access.module.css";
import { OwnPassword, useOwnPasswordNeed } from "./own-password.tsx";

const ROLES = [{ value: "0", label: "same as its principal" }, ...ROLE_CHOICES] as const;
const DAYS = [
  { value: "1", label: "1 day" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "a year" },
] as const;

interface NewTokenProps {
  principal: string;
  open: boolean;
  onClose: () => void;
}

/** A form for a new token; shows its secret once. */
export function NewToken({ principal, open, onClose }: NewTokenProps) {
  const [name, setName] = useState("");
  const [namespaces, setNamespaces] = useState("");
  const [role, setRole] = useState<"0" | RoleChoice>("0");
  const [days, setDays] = useState<(typeof DAYS)[number]["value"]>("90");
  const [password, setPassword] = useState("");
  const create = useCreateToken({
    principal,
    name: name.trim(),
    role: roleOf(role),
    namespaces: namespaces.split(/[\s,]+/).filter((path) => path !== ""),
    days: Number(days),
    password,
  });
  const close = () => {
    onClose();
    setName("");
    setPassword("");
    create.reset();
  };
  const secret = create.data?.secret;
  const lacksPassword = useOwnPasswordNeed() !== "not needed" && password === "";
  return (
    <Dialog
      title={secret === undefined ? "New token" : "Copy the token now"}
      open={open}
      onClose={close}
      actions={
        secret === undefined ? (
          <>
            <Button onClick={close}>Cancel</Button>
            <Button primary onClick={() => create.mutate()} disabled={create.isPending || lacksPassword}>
              Create
            </Button>
          </>
        ) : (
          <Button primary onClick={close}>
            Done
          </Button>
        )
      }
    >
      {secret === undefined ? (
        <div className={styles.form}>
          <TextField
            label="Name"
            value={name}
            onChange={setName}
            hint="Its purpose, such as “nightly job”."
            maxLength={200}
          />
          <TextField
            label="Only in these namespaces"
            value={namespaces}
            onChange={setNamespaces}
            placeholder="everywhere"
            mono
          />
          <div className={styles.actions}>
            <Select label="Highest role" value={role} choices={ROLES} onChange={setRole} />
            <Select label="For" value={days} choices={DAYS} onChange={setDays} />
          </div>
          <OwnPassword
            makes="a token"
            without="cairn token create"
            hint="Required again, because the token may outlive this session. It ends when you change your password."
            value={password}
            onChange={setPassword}
          />
          {create.error !== null && <ErrorNote error={create.error} />}
        </div>
      ) : (
        <Secret text={secret} />
      )}
    </Dialog>
  );
}

function useCreateToken(wanted: Parameters<typeof cairn.access.createToken>[0]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => cairn.access.createToken(wanted),
    onSuccess: () => client.invalidateQueries({ queryKey: ["access", "tokens"] }),
  });
}

function Secret({ text }: { text: string }) {
  return (
    <div className={styles.form}>
      <p className={styles.warn}>It is shown only once. The server stores only its hash.</p>
      <div className={styles.secret}>
        <code>{text}</code>
        <CopyButton text={text} label="Copy the token" />
      </div>
    </div>
  );
}
