import { TrackedChanges } from "#proto/cairn/v1/run_pb.ts";
import type { Provenance } from "./demo-run.ts";
import type { Random } from "./random.ts";

interface Machine {
  host: string;
  gpu: string;
  driver: string;
}

const MACHINES: readonly Machine[] = [
  { host: "gpu-a01", gpu: "8 × NVIDIA H100 80GB", driver: "550.54.15" },
  { host: "gpu-a02", gpu: "8 × NVIDIA H100 80GB", driver: "550.54.15" },
  { host: "gpu-b07", gpu: "4 × NVIDIA A100 40GB", driver: "535.161.08" },
];

/** An uncommitted change, for `cairn diff` to show. */
export const DIRTY_PATCH = `diff --git a/asr/schedule.py b/asr/schedule.py
index 4c1d0aa..9e77b21 100644
--- a/asr/schedule.py
+++ b/asr/schedule.py
@@ -31,7 +31,7 @@ class WarmupCosine:
     def scale(self, step: int) -> float:
         if step < self.warmup:
             return (step + 1) / self.warmup
-        share = (step - self.warmup) / (self.total - self.warmup)
+        share = (step - self.warmup) / max(1, self.total - self.warmup)
         return 0.5 * (1.0 + math.cos(math.pi * share))
`;

export interface Origin {
  repository: string;
  commit: string;
  branch?: string;
  command: readonly string[];
  machine?: number;
  torch?: string;
  dirtyPatch?: string;
  trainingData?: readonly string[];
  testData?: readonly string[];
  initialState?: string;
  featurePipeline?: string;
  study?: string;
  /** Of the operating system. */
  user?: string;
  untrackedFiles?: number;
}

export function provenanceOf(origin: Origin): Provenance {
  const machine = MACHINES[(origin.machine ?? 0) % MACHINES.length]!;
  return {
    initialState: origin.initialState ?? "",
    trainingData: [...(origin.trainingData ?? [])],
    testData: [...(origin.testData ?? [])],
    featurePipeline: origin.featurePipeline ?? "",
    study: origin.study ?? "",
    user: origin.user ?? "",
    code: {
      repository: origin.repository,
      commit: origin.commit,
      branch: origin.branch ?? "main",
      dirtyPatch: origin.dirtyPatch ?? "",
      trackedChanges: (origin.dirtyPatch ?? "") === "" ? TrackedChanges.NONE : TrackedChanges.SOME,
      untrackedFiles: origin.untrackedFiles ?? 0,
      changedSubmodules: 0,
    },
    command: [...origin.command],
    environment: {
      host: machine.host,
      os: "Linux 6.8.0-45-generic",
      gpu: machine.gpu,
      driver: machine.driver,
      python: "3.11.9",
      "package:torch": origin.torch ?? "2.6.0",
      "package:numpy": "2.1.3",
      "package:transformers": "4.47.1",
    },
  };
}

export function commitOf(random: Random, name: string): string {
  return random.fork(`commit/${name}`).hex(40);
}
