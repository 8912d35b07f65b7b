import type { Artifacts } from "#core/artifacts/artifacts.ts";

const COLLECT_MS = 5_000;
const EXPIRE_MS = 600_000;
const TIDY_MS = 24 * 3_600_000;

/**
 * Destroys content that is not needed any more: what is known to be unused every few seconds, uploads that were
 * given up and versions that were kept long enough every ten minutes, and what a crash left behind at the start and once a day.
 */
export function tendArtifacts(
  artifacts: Artifacts,
  onFailure: (thrown: unknown) => void,
): { stop(): Promise<void> } {
  let tidying = Promise.resolve();
  const tidy = (): void => {
    tidying = artifacts.tidy().catch(onFailure);
  };
  const collect = setInterval(() => void artifacts.sweep.collectSoon(), COLLECT_MS);
  const expire = setInterval(() => {
    void artifacts.uploads.expire().catch(onFailure);
    void artifacts.replaced.expire().catch(onFailure);
  }, EXPIRE_MS);
  const daily = setInterval(tidy, TIDY_MS);
  tidy();
  return {
    stop: async () => {
      clearInterval(collect);
      clearInterval(expire);
      clearInterval(daily);
      await artifacts.sweep.stop();
      await tidying;
    },
  };
}
