import { printField } from "#lang/query/field-text.ts";
import { Button } from "../../../widgets/button.tsx";
import { X } from "../../../widgets/icons/icons.ts";
import { Popover } from "../../../widgets/popups/popover.tsx";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import styles from "./column-picker.module.css";
import { fieldLabel, findPageField } from "../../../data/runs/field.ts";
import type { KnownKeys } from "../../../data/runs/known-keys.ts";
import { ALL_BUT } from "../search.ts";

const LENGTH_MAX = 60;
const OFFERED_MAX = 100;
/** What runs of a team have in common. */
const RUN_GROUPS = ["status", "namespace", "creator", "user", "host", "study", "training_data", "commit"];

/** How the rows are grouped: by one field, by several nested ones, or by everything but the seed. */
export function GroupPicker({
  group,
  known,
  onChange,
}: {
  group: readonly string[];
  known: KnownKeys | undefined;
  onChange: (group: string[]) => void;
}) {
  const offers = offersOf(known).filter((text) => !group.includes(text));
  return (
    <Popover
      label="Groups"
      align="end"
      trigger={<Button>Group{group.length > 0 && `: ${group.map(groupLabel).join(", ")}`}</Button>}
    >
      <div className={styles.groups}>
        {group.map((text) => (
          <div key={text} className={styles.item}>
            <span className={styles.label}>{groupLabel(text)}</span>
            <Button
              quiet
              label={`Remove the group by ${groupLabel(text)}`}
              onClick={() => onChange(group.filter((each) => each !== text))}
            >
              <X size={13} aria-hidden />
            </Button>
          </div>
        ))}
        <h2 className={styles.title}>{group.length === 0 ? "Group by" : "Then by"}</h2>
        <ul className={styles.list}>
          {offers.slice(0, OFFERED_MAX).map((text) => (
            <li key={text}>
              <button type="button" className={styles.offer} onClick={() => onChange([...group, text])}>
                <span className={styles.label}>{groupLabel(text)}</span>
                <span className={styles.of}>
                  {text.startsWith(ALL_BUT) ? "param" : (findPageField(text)?.of ?? "")}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </Popover>
  );
}

function groupLabel(text: string): string {
  const field = findPageField(text.startsWith(ALL_BUT) ? text.slice(ALL_BUT.length) : text);
  const label = field === undefined ? text : visibleText(cutText(fieldLabel(field), LENGTH_MAX));
  return text.startsWith(ALL_BUT) ? `all but ${label}` : field?.of === "run" ? label.toLowerCase() : label;
}

function offersOf(known: KnownKeys | undefined): string[] {
  const params = known?.params ?? [];
  const seeds = params.filter((key) => /(?:^|[._])seed$/i.test(key));
  return [
    ...seeds.map((key) => ALL_BUT + printField({ of: "param", key })),
    ...params.map((key) => printField({ of: "param", key })),
    ...(known?.tags ?? []).map((key) => printField({ of: "tag", key })),
    ...RUN_GROUPS,
  ];
}
