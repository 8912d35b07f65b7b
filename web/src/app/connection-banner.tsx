import { useEffect, useState } from "react";
import { connectAgain } from "../data/live/live.ts";
import { useConnection } from "../data/live/hooks.ts";
import { Button } from "../widgets/button.tsx";
import { formatDuration } from "#lang/words/times.ts";
import styles from "./connection-banner.module.css";

/** Shorter interruptions, such as a reconnect, show no banner. */
const PATIENCE_MS = 1_500;

/** Shows that the page may be outdated, until data arrives again. */
export function ConnectionBanner() {
  const { state, heardMs } = useConnection();
  const [nowMs, setNowMs] = useState(0);
  const isLost = state === "lost";
  useEffect(() => {
    if (!isLost) return undefined;
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    const first = setTimeout(() => setNowMs(Date.now()), PATIENCE_MS);
    return () => {
      clearInterval(timer);
      clearTimeout(first);
    };
  }, [isLost]);
  const silentMs = nowMs - heardMs;
  if (!isLost || silentMs < PATIENCE_MS) return <div role="status" />;
  return (
    <div className={styles.banner} role="status">
      <span>
        Connection to the server lost
        {heardMs > 0 && `. This page is ${formatDuration(silentMs / 1_000)} old`}. Reconnecting automatically.
      </span>
      <Button onClick={connectAgain}>Try now</Button>
    </div>
  );
}

/** A dot in the head: whether the page is live. */
export function ConnectionDot() {
  const { state } = useConnection();
  const words = { live: "live", connecting: "connecting", lost: "offline", "signed-out": "signed out" }[
    state
  ];
  return (
    <span
      className={styles.dot}
      title={state === "live" ? "Live: changes are shown as they happen" : undefined}
    >
      <span className={`${styles.mark} ${styles[state]}`} aria-hidden />
      {words}
    </span>
  );
}
