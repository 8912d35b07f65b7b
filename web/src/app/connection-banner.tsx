import { useEffect, useState } from "react";
import { connectAgain } from "../data/live/live.ts";
import { useConnection } from "../data/live/hooks.ts";
import { Button } from "../widgets/button.tsx";
import { formatDuration } from "#lang/words/times.ts";
import styles from "./connection-banner.module.css";

/** A stream that is opened anew is no reason to alarm anybody. */
const PATIENCE_MS = 1_500;

/** Says that what is shown may be old, until the server is heard again. */
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
        The connection to the server is lost
        {heardMs > 0 && `; what you see is ${formatDuration(silentMs / 1_000)} old`}. It is tried again by
        itself.
      </span>
      <Button onClick={connectAgain}>Try now</Button>
    </div>
  );
}

/** A dot in the head: whether what happens is seen as it happens. */
export function ConnectionDot() {
  const { state } = useConnection();
  const words = { live: "live", connecting: "connecting", lost: "offline", "signed-out": "signed out" }[
    state
  ];
  return (
    <span className={styles.dot} title={state === "live" ? "What happens is shown as it happens" : undefined}>
      <span className={`${styles.mark} ${styles[state]}`} aria-hidden />
      {words}
    </span>
  );
}
