/** What is better by a direction, "minimize" or "maximize", or by a statistic, "min" or "max"; "" for other words. */
export function betterWords(direction: string): string {
  if (direction.startsWith("min")) return "lower is better";
  return direction.startsWith("max") ? "higher is better" : "";
}
