import { SCALES, type DemoNamespace, type DemoRun, type DemoScaleName } from "./demo-run.ts";
import { Random } from "./random.ts";
import { speechTeam } from "./teams/speech.ts";
import { translationTeam } from "./teams/translation.ts";
import { visionTeam } from "./teams/vision.ts";

export interface Story {
  namespaces: readonly DemoNamespace[];
  /** The first one is where all times are counted from. */
  runs: readonly DemoRun[];
}

/** The whole demo as data; the same for the same seed. */
export function tellStory(seed: number, scale: DemoScaleName): Story {
  const options = { random: new Random(`cairn demo ${seed}`), scale: SCALES[scale] };
  const teams = [speechTeam(options), visionTeam(options), translationTeam(options)];
  const root = { path: "", description: "Three fictional teams. Made by cairn demo." };
  return {
    namespaces: [root, ...teams.flatMap(({ namespaces }) => namespaces)],
    runs: teams.flatMap(({ runs }) => runs),
  };
}
