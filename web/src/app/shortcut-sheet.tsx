import { useLocation } from "@tanstack/react-router";
import { Dialog } from "../widgets/popups/dialog.tsx";
import styles from "./shortcut-sheet.module.css";
import { shortcutGroups } from "./shortcuts.ts";

export function ShortcutSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const groups = shortcutGroups(useLocation().pathname);
  return (
    <Dialog title="Keys" open={open} onClose={onClose}>
      {groups.map(({ title, shortcuts }) => (
        <section key={title} className={styles.group}>
          <h3 className={styles.title}>{title}</h3>
          <dl className={styles.list}>
            {shortcuts.map(({ keys, does }) => (
              <div key={keys} className={styles.row}>
                <dt>
                  {keys.split(" ").map((key, i) => (
                    <kbd key={i} className={styles.key}>
                      {key}
                    </kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
