import type { ComponentProps, ReactNode } from "react";
import styles from "./button.module.css";

interface ButtonProps extends Omit<ComponentProps<"button">, "children"> {
  children: ReactNode;
  /** The meaning of an icon without text. */
  label?: string;
  primary?: boolean;
  /** Without a frame, for bars full of icons. */
  quiet?: boolean;
}

export function Button({ children, label, primary, quiet, className, ...rest }: ButtonProps) {
  const names = [styles.button, primary && styles.primary, quiet && styles.quiet, className];
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={names.filter(Boolean).join(" ")}
    >
      {children}
    </button>
  );
}
