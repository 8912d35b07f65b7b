import { useState, type FormEvent } from "react";
import { Role } from "#proto/cairn/v1/access_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { useHasRole } from "../../../data/use-has-role.ts";
import { Button } from "../../../widgets/button.tsx";
import { Plus, X } from "../../../widgets/icons/icons.ts";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { formatCount } from "#lang/words/numbers.ts";
import { Name } from "../../../widgets/name.tsx";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import { TextField } from "../../../widgets/fields/text-field.tsx";
import { Card } from "../card.tsx";
import styles from "../run.module.css";
import { useUpdateRun } from "./use-update-run.ts";

/** Only so many are shown at first, of up to a thousand. */
const SHOWN_MAX = 30;
const LABEL_MAX = 60;

interface EditedTag {
  key: string;
  value: string;
  isNew: boolean;
}

export function TagsCard({ run }: { run: Run }) {
  const [editing, setEditing] = useState<EditedTag>();
  const [all, setAll] = useState(false);
  const update = useUpdateRun(run.id);
  const mayEdit = useHasRole(Role.WRITER, { namespace: run.namespace, runId: run.id });
  const keys = Object.keys(run.tags).sort();
  const shown = all ? keys : keys.slice(0, SHOWN_MAX);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (editing === undefined || editing.key.trim() === "") return;
    update.mutate(
      { tags: { [editing.key.trim()]: editing.value } },
      { onSuccess: () => setEditing(undefined) },
    );
  };
  return (
    <Card
      title="Tags"
      {...(keys.length > 0 && { count: formatCount(keys.length) })}
      tools={
        mayEdit && (
          <Button label="Add a tag" onClick={() => setEditing({ key: "", value: "", isNew: true })} quiet>
            <Plus size={15} aria-hidden />
          </Button>
        )
      }
    >
      <div className={styles.cardBody}>
        {keys.length === 0 && editing === undefined && (
          <p className={styles.none}>No tags. Use tags to find and group runs.</p>
        )}
        <ul className={styles.tags}>
          {shown.map((key) => (
            <Tag
              key={key}
              name={key}
              value={run.tags[key]!}
              isBusy={update.isPending}
              mayEdit={mayEdit}
              onEdit={() => setEditing({ key, value: run.tags[key]!, isNew: false })}
              onRemove={() => update.mutate({ removeTags: [key] })}
            />
          ))}
        </ul>
        {keys.length > shown.length && (
          <Button onClick={() => setAll(true)}>Show all {formatCount(keys.length)}</Button>
        )}
        {editing !== undefined && (
          // Another tag is another form, whose field gets the focus.
          <TagForm
            key={editing.isNew ? "new" : `tag ${editing.key}`}
            tag={editing}
            isBusy={update.isPending}
            onChange={setEditing}
            onSave={save}
            onCancel={() => setEditing(undefined)}
          />
        )}
        {update.error !== null && <ErrorNote error={update.error} />}
      </div>
    </Card>
  );
}

function TagForm({
  tag,
  isBusy,
  onChange,
  onSave,
  onCancel,
}: {
  tag: EditedTag;
  isBusy: boolean;
  onChange: (tag: EditedTag) => void;
  onSave: (event: FormEvent) => void;
  onCancel: () => void;
}) {
  return (
    <form className={styles.tagForm} onSubmit={onSave}>
      <TextField
        label="Tag"
        quiet
        placeholder="tag"
        value={tag.key}
        readOnly={!tag.isNew}
        autoFocus={tag.isNew}
        onChange={(key) => onChange({ ...tag, key })}
      />
      <TextField
        label="Value"
        quiet
        placeholder="value"
        value={tag.value}
        autoFocus={!tag.isNew}
        onChange={(value) => onChange({ ...tag, value })}
      />
      <Button type="submit" primary disabled={isBusy || tag.key.trim() === ""}>
        Save
      </Button>
      <Button label="Cancel" onClick={onCancel} quiet>
        <X size={14} aria-hidden />
      </Button>
    </form>
  );
}

function Tag({
  name,
  value,
  isBusy,
  mayEdit,
  onEdit,
  onRemove,
}: {
  name: string;
  value: string;
  isBusy: boolean;
  mayEdit: boolean;
  onEdit: () => void;
  onRemove: () => void;
}) {
  if (!mayEdit) {
    return (
      <li className={styles.tag}>
        <span className={styles.tagText}>
          <span className={styles.quiet}>
            <Name text={name} />
          </span>
          <Name text={value} />
        </span>
      </li>
    );
  }
  return (
    <li className={styles.tag}>
      <button type="button" className={styles.tagText} title="Edit the tag" onClick={onEdit}>
        <span className={styles.quiet}>
          <Name text={name} />
        </span>
        <Name text={value} />
      </button>
      <button
        type="button"
        className={styles.tagRemove}
        aria-label={`Remove tag ${cutText(visibleText(name), LABEL_MAX)}`}
        disabled={isBusy}
        onClick={onRemove}
      >
        <X size={12} aria-hidden />
      </button>
    </li>
  );
}
