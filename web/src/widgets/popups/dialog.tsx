import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { Button } from "../button.tsx";
import { X } from "../icons/icons.ts";
import styles from "./dialog.module.css";
import { useFieldFocus } from "../fields/field-focus.ts";

/** A modal dialog. Escape closes it and restores the focus. */
export function Dialog({
  title,
  open,
  onClose,
  children,
  actions,
  wide = false,
}: {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
  /** Buttons at the bottom right. */
  actions?: ReactNode;
  wide?: boolean;
}) {
  const focus = useFieldFocus();
  return (
    <Base.Root
      open={open}
      onOpenChange={(now) => {
        if (!now) onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup {...focus} className={wide ? `${styles.dialog} ${styles.wide}` : styles.dialog}>
          <div className={styles.head}>
            <Base.Title className={styles.title}>{title}</Base.Title>
            <Base.Close
              render={
                <Button label="Close" quiet>
                  <X size={16} />
                </Button>
              }
            />
          </div>
          <div className={styles.body}>{children}</div>
          {actions !== undefined && <div className={styles.foot}>{actions}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
