/**
 * Calls at once, and then at most every `everyMs`, and not before the last call has ended; calls in between are combined into one.
 */
export function throttle(everyMs: number, call: () => unknown): { ask(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let isWanted = false;
  const goOn = () => {
    if (isWanted) ask();
  };
  const ask = () => {
    isWanted = isRunning || timer !== undefined;
    if (isWanted) return;
    timer = setTimeout(() => {
      timer = undefined;
      goOn();
    }, everyMs);
    const begun = call();
    if (!(begun instanceof Promise)) return;
    isRunning = true;
    const end = () => {
      isRunning = false;
      goOn();
    };
    begun.then(end, end);
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
