import { Popover as Base } from "@base-ui/react/popover";
import type { ReactElement, ReactNode } from "react";
import { useFieldFocus } from "../fields/field-focus.ts";
import styles from "./popup.module.css";

/** A button that opens a small panel beside it. */
export function Popover({
  trigger,
  children,
  label,
  align = "start",
  open,
  onOpenChange,
}: {
  trigger: ReactElement;
  children: ReactNode;
  /** The name of the panel for screen readers. */
  label: string;
  align?: "start" | "center" | "end";
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
}) {
  const focus = useFieldFocus();
  return (
    <Base.Root {...(open !== undefined && { open })} {...(onOpenChange && { onOpenChange })}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className={styles.positioner} sideOffset={4} align={align}>
          <Base.Popup {...focus} className={`${styles.popup} ${styles.free}`} aria-label={label}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
