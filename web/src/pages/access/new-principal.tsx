import { useState } from "react";
import { PrincipalKind } from "#proto/cairn/v1/access_pb.ts";
import { Button } from "../../widgets/button.tsx";
import { Dialog } from "../../widgets/popups/dialog.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Select } from "../../widgets/fields/select.tsx";
import { TextField } from "../../widgets/fields/text-field.tsx";
import styles from "./access.module.css";
import type { RoleChoice } from "./access-data.ts";
import { FirstRole } from "./first-role.tsx";
import { OwnPassword } from "./own-password.tsx";
import { useCreatePrincipal } from "./use-create-principal.ts";

const KINDS = [
  { value: "1", label: "user" },
  { value: "2", label: "service" },
  { value: "3", label: "group" },
] as const;

export function NewPrincipal({
  open,
  onClose,
  onCreated,
}: {
  open: boolean;
  onClose: () => void;
  onCreated: () => Promise<unknown>;
}) {
  const [name, setName] = useState("");
  const [displayName, setDisplayName] = useState("");
  const [password, setPassword] = useState("");
  const [yourPassword, setYourPassword] = useState("");
  const [kind, setKind] = useState<(typeof KINDS)[number]["value"]>("1");
  const [role, setRole] = useState<RoleChoice | "0">("0");
  const [namespace, setNamespace] = useState("");
  const isUser = Number(kind) === PrincipalKind.USER;
  const close = () => {
    onClose();
    setName("");
    setDisplayName("");
    setPassword("");
    setYourPassword("");
    setRole("0");
    setNamespace("");
    create.reset();
  };
  const create = useCreatePrincipal(async () => {
    await onCreated();
    close();
  });
  const submit = () =>
    create.mutate({
      name: name.trim(),
      displayName: displayName.trim(),
      kind: Number(kind) as PrincipalKind,
      password: isUser ? password : "",
      yourPassword: isUser ? yourPassword : "",
      role,
      namespace,
    });
  return (
    <Dialog
      title="New user, service or group"
      open={open}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button primary onClick={submit} disabled={name.trim() === "" || create.isPending}>
            Create
          </Button>
        </>
      }
    >
      <div className={styles.form}>
        <div className={styles.actions}>
          <Select label="Kind" value={kind} choices={KINDS} onChange={setKind} />
        </div>
        <TextField label="Name" value={name} onChange={setName} hint="Such as ada or ci-nightly." />
        <TextField label="Display name" value={displayName} onChange={setDisplayName} />
        {isUser && (
          <PasswordFields
            password={password}
            onPassword={setPassword}
            yourPassword={yourPassword}
            onYourPassword={setYourPassword}
          />
        )}
        <FirstRole role={role} namespace={namespace} onRole={setRole} onNamespace={setNamespace} />
        {create.error !== null && <ErrorNote error={create.error} />}
      </div>
    </Dialog>
  );
}

function PasswordFields(fields: {
  password: string;
  onPassword: (value: string) => void;
  yourPassword: string;
  onYourPassword: (value: string) => void;
}) {
  return (
    <>
      <TextField
        label="Password"
        type="password"
        value={fields.password}
        onChange={fields.onPassword}
        autoComplete="new-password"
        hint="May be empty for a person who only uses tokens."
      />
      {fields.password !== "" && (
        <OwnPassword
          makes="a person who can log in"
          without="cairn access user add"
          hint="Required again, because a new person can log in after this session has ended."
          value={fields.yourPassword}
          onChange={fields.onYourPassword}
        />
      )}
    </>
  );
}
