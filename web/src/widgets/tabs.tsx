import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import styles from "./tabs.module.css";

export interface TabChoice {
  value: string;
  label: string;
  count?: number;
}

/** Tabs; the current one belongs in the address. Children are TabPanels. */
export function Tabs({
  label,
  value,
  tabs,
  onChange,
  children,
}: {
  label: string;
  value: string;
  tabs: readonly TabChoice[];
  onChange: (value: string) => void;
  children: ReactNode;
}) {
  return (
    <Base.Root className={styles.tabs} value={value} onValueChange={(chosen) => onChange(String(chosen))}>
      <Base.List className={styles.list} aria-label={label}>
        {tabs.map((tab) => (
          <Base.Tab key={tab.value} value={tab.value} className={styles.tab}>
            {tab.label}
            {tab.count !== undefined && <span className={styles.count}>{tab.count}</span>}
          </Base.Tab>
        ))}
      </Base.List>
      {children}
    </Base.Root>
  );
}

export function TabPanel({ value, children }: { value: string; children: ReactNode }) {
  return (
    <Base.Panel value={value} className={styles.panel}>
      {children}
    </Base.Panel>
  );
}
