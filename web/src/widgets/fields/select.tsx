import { Select as Base } from "@base-ui/react/select";
import { Check, ChevronDown } from "../icons/icons.ts";
import styles from "../popups/popup.module.css";

export interface Choice<T extends string> {
  value: T;
  label: string;
}

/** One of a few choices. `label` is in front of it, or with `quiet` only for screen readers. */
export function Select<T extends string>({
  label,
  value,
  choices,
  onChange,
  quiet = false,
}: {
  label: string;
  value: T;
  choices: readonly Choice<T>[];
  onChange: (value: T) => void;
  quiet?: boolean;
}) {
  return (
    <Base.Root
      items={choices}
      value={value}
      onValueChange={(chosen) => {
        if (chosen !== null) onChange(chosen);
      }}
    >
      <Base.Trigger className={styles.trigger} aria-label={label}>
        <span>
          {!quiet && <span className={styles.caption}>{label}: </span>}
          <Base.Value />
        </span>
        <ChevronDown size={14} aria-hidden />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className={styles.positioner} sideOffset={4} alignItemWithTrigger={false}>
          <Base.Popup className={styles.popup}>
            {choices.map((choice) => (
              <Base.Item key={choice.value} value={choice.value} className={styles.item}>
                <Base.ItemText>{choice.label}</Base.ItemText>
                <Base.ItemIndicator className={styles.tick}>
                  <Check size={14} aria-hidden />
                </Base.ItemIndicator>
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
