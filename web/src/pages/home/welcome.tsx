import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Logo } from "../../widgets/logo.tsx";
import { whoAmI } from "../../data/queries.ts";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { TabPanel, Tabs } from "../../widgets/tabs.tsx";
import { demoCommand, snippets } from "./snippets.ts";
import styles from "./welcome.module.css";

/** The page of an empty server: how to log a first run. It is updated when that arrives. */
export function Welcome() {
  const { data } = useQuery(whoAmI);
  const [shown, setShown] = useState("Python");
  const needsToken = data?.token !== undefined;
  const all = snippets(location.origin, needsToken);
  const demo = demoCommand(location.origin, needsToken);
  return (
    <div className={styles.welcome}>
      <header className={styles.head}>
        <Logo size={40} />
        <div>
          <h1 className={styles.title}>No runs yet</h1>
          <p>This page is updated as soon as the first one arrives.</p>
        </div>
      </header>
      <section className={styles.card} aria-label="Log a first run">
        <Tabs
          label="Ways in"
          value={shown}
          tabs={all.map(({ title }) => ({ value: title, label: title }))}
          onChange={setShown}
        >
          {all.map(({ title, needs, text }) => (
            <TabPanel key={title} value={title}>
              {needs !== "" && (
                <p className={styles.needs}>
                  Once, in the checkout: <code>{needs}</code>
                </p>
              )}
              <div className={styles.code}>
                <pre tabIndex={0} aria-label={`${title} code`}>
                  {text}
                </pre>
                <CopyButton text={text} label={`Copy the ${title} code`} />
              </div>
            </TabPanel>
          ))}
        </Tabs>
      </section>
      <section className={styles.card} aria-labelledby="demo">
        <h2 id="demo" className={styles.subtitle}>
          Or look around first
        </h2>
        <p className={styles.needs}>Four weeks of three fictional teams, and a few live runs:</p>
        <div className={styles.code}>
          <pre tabIndex={0} aria-label="Demo command">
            {demo}
          </pre>
          <CopyButton text={demo} label="Copy the demo command" />
        </div>
      </section>
      {needsToken && (
        <p className={styles.note}>
          Put one of your tokens in place of <code>TOKEN</code>: <a href="/access">make one</a>.
        </p>
      )}
    </div>
  );
}
