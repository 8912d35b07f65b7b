import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";
import styles from "./popup.module.css";

/** A button that opens a menu of actions. The trigger is a `Button`; children are MenuItem and MenuLine. */
export function Menu({
  trigger,
  children,
  align = "start",
}: {
  trigger: ReactElement;
  children: ReactNode;
  align?: "start" | "end";
}) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className={styles.positioner} sideOffset={4} align={align}>
          <Base.Popup className={styles.popup}>{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export function MenuItem({
  children,
  onClick,
  disabled = false,
  hint,
  closeOnClick = true,
}: {
  children: ReactNode;
  onClick: () => void;
  disabled?: boolean;
  /** Such as a key, on the right. */
  hint?: string;
  closeOnClick?: boolean;
}) {
  return (
    <Base.Item className={styles.item} onClick={onClick} disabled={disabled} closeOnClick={closeOnClick}>
      {children}
      {hint !== undefined && <span className={styles.hint}>{hint}</span>}
    </Base.Item>
  );
}

export function MenuLine() {
  return <Base.Separator className={styles.line} />;
}
