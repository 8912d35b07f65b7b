import type { Journal } from "#core/ports/journal.ts";

/** The journal; `woken` decides how often a subscriber is called for each wake-up that the journal gives it. */
export function withWakeUps(
  journal: Journal,
  woken: () => number,
): Journal & { asked: number; wake(): void } {
  const wakes = new Set<() => void>();
  const own = {
    asked: 0,
    wake: () => wakes.forEach((wake) => wake()),
    append: (...args: Parameters<Journal["append"]>) => journal.append(...args),
    changesSince: (...args: Parameters<Journal["changesSince"]>) => {
      own.asked++;
      return journal.changesSince(...args);
    },
    position: () => journal.position(),
    readPoints: (...args: Parameters<Journal["readPoints"]>) => journal.readPoints(...args),
    subscribe: (wake: () => void) => {
      wakes.add(wake);
      const leave = journal.subscribe(() => {
        for (let i = woken(); i > 0; i--) wake();
      });
      return () => {
        wakes.delete(wake);
        leave();
      };
    },
  };
  return own;
}
