import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { PrincipalKind, type Principal } from "#proto/cairn/v1/access_pb.ts";
import { cairn } from "../../data/server.ts";
import { Button } from "../../widgets/button.tsx";
import { DataTable } from "../../widgets/data-table.tsx";
import { Dialog } from "../../widgets/popups/dialog.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Name } from "../../widgets/name.tsx";
import { Select } from "../../widgets/fields/select.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import styles from "./access.module.css";

/** The members of a group, to add and remove. */
export function MembersDialog({
  group,
  everybody,
  onClose,
  onChanged,
}: {
  group: Principal;
  everybody: readonly Principal[];
  onClose: () => void;
  onChanged: () => Promise<unknown>;
}) {
  const [who, setWho] = useState("");
  const add = useMutation({
    mutationFn: () => cairn.access.addMember({ group: group.name, member: who }),
    onSuccess: () => {
      setWho("");
      return onChanged();
    },
  });
  const remove = useMutation({
    mutationFn: (member: string) => cairn.access.removeMember({ group: group.name, member }),
    onSuccess: onChanged,
  });
  const others = everybody.filter(
    ({ name, kind }) =>
      (kind === PrincipalKind.USER || kind === PrincipalKind.SERVICE) && !group.members.includes(name),
  );
  const failure = add.error ?? remove.error;
  return (
    <Dialog title={`Members of ${visibleText(group.name)}`} open onClose={onClose}>
      <DataTable
        label="Members"
        rows={group.members}
        keyOf={(name) => name}
        empty="No members yet."
        columns={[
          { title: "Name", cell: (name) => <Name text={name} /> },
          {
            title: "Remove",
            isUntitled: true,
            isNumber: true,
            cell: (name) => (
              <Button label={`Remove ${visibleText(name)}`} onClick={() => remove.mutate(name)}>
                Remove
              </Button>
            ),
          },
        ]}
      />
      <div className={styles.bind}>
        <Select
          label="Who"
          value={who}
          choices={[
            { value: "", label: "choose …" },
            ...others.map(({ name }) => ({ value: name, label: visibleText(name) })),
          ]}
          onChange={setWho}
        />
        <Button onClick={() => add.mutate()} disabled={who === "" || add.isPending}>
          Add
        </Button>
      </div>
      {failure !== null && <ErrorNote error={failure} />}
    </Dialog>
  );
}
