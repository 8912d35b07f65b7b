import type { TrackerFactory } from "./api.ts";
import { loadFactory } from "./load-factory.ts";
import { manifestTracker } from "./manifest-trackers.ts";

/** Loaded when they are used. */
const BUILT_IN: ReadonlyMap<string, () => Promise<TrackerFactory>> = new Map<
  string,
  () => Promise<TrackerFactory>
>([
  ["cairn", async () => (await import("./cairn/cairn-tracker.ts")).createCairnTracker],
  ["fsspec", async () => (await import("./fsspec/create.ts")).createFsspecTracker],
  ["mlflow", async () => (await import("./mlflow/create.ts")).createMLflowTracker],
]);

const registered = new Map<string, TrackerFactory>();

/** Registers a tracker by name, before those of Cairn and of packages. The returned function undoes it. */
export function registerTracker(name: string, factory: TrackerFactory): () => void {
  if (typeof factory !== "function") {
    throw new TypeError(`cannot register tracker "${name}": its factory is not a function`);
  }
  registered.set(name, factory);
  return () => {
    if (registered.get(name) === factory) registered.delete(name);
  };
}

/**
 * The factory of a name: registered, built in, named by the key `torchx.tracker` in the manifest of a package
 * that the application depends on, or else `module:factory`. Throws when there is none.
 */
export async function findTrackerFactory(name: string, cwd: string): Promise<TrackerFactory> {
  const own = registered.get(name) ?? (await BUILT_IN.get(name)?.());
  if (own !== undefined) return asFactory(own);
  const fromManifest = await manifestTracker(name, cwd);
  return asFactory(
    fromManifest === undefined
      ? await loadFactory(name, cwd)
      : await loadFactory(fromManifest.specifier, fromManifest.packageDir),
  );
}

/** A class is a function too, but calling it without `new` would throw a confusing error. */
function asFactory(found: unknown): TrackerFactory {
  if (typeof found !== "function") throw new Error("its factory is not a function");
  if (/^class\b/.test(Function.prototype.toString.call(found))) {
    throw new Error("its factory is a class; write a function that takes the config and returns a tracker");
  }
  return found as TrackerFactory;
}
