/** Calls at once, and then at most every `everyMs`; a call in between is made up for once. */
export function throttle(everyMs: number, call: () => void): { ask(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isWanted = false;
  const rest = () => {
    timer = undefined;
    if (isWanted) ask();
  };
  const ask = () => {
    isWanted = timer !== undefined;
    if (isWanted) return;
    timer = setTimeout(rest, everyMs);
    call();
  };
  return {
    ask,
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
      isWanted = false;
    },
  };
}
