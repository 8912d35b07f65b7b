import type { ComponentProps, ReactNode } from "react";
import { useId } from "react";
import styles from "./text-field.module.css";

interface TextFieldProps extends Omit<ComponentProps<"input">, "onChange" | "value"> {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** The label is only for screen readers. */
  quiet?: boolean;
  mono?: boolean;
  /** The error of the typed text. */
  error?: ReactNode;
  hint?: ReactNode;
}

export function TextField({
  label,
  value,
  onChange,
  quiet,
  mono,
  error,
  hint,
  className,
  ...rest
}: TextFieldProps) {
  const id = useId();
  const words = error ?? hint;
  return (
    <div className={className === undefined ? styles.field : `${styles.field} ${className}`}>
      {!quiet && (
        <label htmlFor={id} className={styles.label}>
          {label}
        </label>
      )}
      <input
        id={id}
        className={mono ? `${styles.input} ${styles.mono}` : styles.input}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        aria-label={quiet ? label : undefined}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={words === undefined ? undefined : `${id}-words`}
        autoComplete="off"
        spellCheck={false}
        {...rest}
      />
      {words !== undefined && (
        <p id={`${id}-words`} className={error === undefined ? styles.hint : styles.error}>
          {words}
        </p>
      )}
    </div>
  );
}
