import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Logo } from "../../widgets/logo.tsx";
import { serverInfo, whoAmI } from "../../data/queries.ts";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { TabPanel, Tabs } from "../../widgets/tabs.tsx";
import { demoCommand, snippets, wheelUrl } from "./snippets.ts";
import styles from "./welcome.module.css";

/** The page of an empty server: how to log a first run. It is updated when that arrives. */
export function Welcome() {
  const { data } = useQuery(whoAmI);
  const [shown, setShown] = useState("Python");
  const { data: info } = useQuery(serverInfo);
  const needsToken = data?.token !== undefined;
  // The address of a package has its version, so that nothing is shown before it is known.
  if (data === undefined || info === undefined) return <Skeleton lines={8} height={20} />;
  const here = { url: location.origin, version: info.version, needsToken };
  const all = snippets(here);
  const demo = demoCommand(here);
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
                <>
                  <p className={styles.needs}>Once:</p>
                  <Code text={needs} name={`${title} installation`} />
                  <p className={styles.needs}>Then:</p>
                </>
              )}
              <Code text={text} name={`${title} code`} />
            </TabPanel>
          ))}
        </Tabs>
      </section>
      <section className={styles.card} aria-labelledby="demo">
        <h2 id="demo" className={styles.subtitle}>
          Or look around first
        </h2>
        <p className={styles.needs}>
          Four weeks of three fictional teams, and a few live runs. With the command line of this server:
        </p>
        <Code text={demo} name="demo command" />
      </section>
      <p className={styles.note}>
        The Python package needs nothing but Python:{" "}
        <a href={wheelUrl(here)} download>
          download it
        </a>
        . It also installs the command <code>cairn</code>.
      </p>
      {needsToken && (
        <p className={styles.note}>
          Put one of your tokens in place of <code>TOKEN</code>: <a href="/access">make one</a>.
        </p>
      )}
    </div>
  );
}

function Code({ text, name }: { text: string; name: string }) {
  return (
    <div className={styles.code}>
      <pre tabIndex={0} aria-label={name}>
        {text}
      </pre>
      <CopyButton text={text} label={`Copy the ${name}`} />
    </div>
  );
}
