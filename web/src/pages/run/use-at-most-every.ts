import { useEffect, useRef, useState } from "react";

/** Throttle: calls at once, then at most every so often; calls meanwhile are merged into one at the end. */
export function useAtMostEvery(waitMs: number, act: () => void): () => void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const wanted = useRef(false);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  const [call] = useState(() => {
    const now = () => {
      wanted.current = false;
      latest.current();
      timer.current = setTimeout(() => {
        timer.current = undefined;
        if (wanted.current) now();
      }, waitMs);
    };
    return () => {
      if (timer.current === undefined) now();
      else wanted.current = true;
    };
  });
  return call;
}
