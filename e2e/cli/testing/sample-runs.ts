import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { RunStatus, type CreateRunRequestSchema, type Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";

/** The same runs for every test that reads runs: a small sweep with its ancestors. */
export interface SampleRuns {
  base: Run;
  tuned: Run;
  wider: Run;
  failed: Run;
}

const PATCH_A = `diff --git a/train.py b/train.py
--- a/train.py
+++ b/train.py
@@ -10,3 +10,3 @@
 def step(batch):
-    loss = model(batch)
+    loss = model(batch).mean()
     return loss
`;
const PATCH_B = PATCH_A.replace(".mean()", ".sum() / len(batch)");

type NewRun = MessageInitShape<typeof CreateRunRequestSchema>;

export async function createRun(server: Cairn, request: NewRun): Promise<Run> {
  const { run } = await server.runs.createRun(request);
  return run!;
}

export async function writeEnvelope(
  server: Cairn,
  run: Run,
  envelope: Omit<MessageInitShape<typeof EnvelopeSchema>, "$typeName">,
): Promise<void> {
  await server.metrics.writeEnvelope({ ...envelope, run: { id: run.id } });
}

const BASE: NewRun = {
  name: "base",
  params: { lr: "0.1", optim: '{"name":"sgd","betas":[0.9,0.99]}', seed: "1" },
  tags: { team: "asr" },
  notes: "The one everything began with.",
};

const TUNED: NewRun = {
  name: "tuned",
  aliases: ["job-7"],
  params: { lr: "0.01", optim: '{"name":"adam","betas":[0.9,0.999]}', seed: "1", warmup: "100" },
  tags: { team: "asr", best: "yes" },
  provenance: {
    trainingData: ["s3://data/librispeech"],
    code: {
      repository: "https://git.example.org/asr.git",
      commit: "1f0c2a91b3de77aa00112233445566778899aabb",
      branch: "main",
      dirtyPatch: PATCH_A,
    },
    command: ["python", "train.py", "--lr", "0.01"],
    environment: {
      host: "node-17",
      "gpu.0": "H100",
      "gpu.1": "H100",
      "package:torch": "2.6.0",
      "package:numpy": "2.1.0",
    },
  },
};

const WIDER: NewRun = {
  name: "wider",
  params: {
    lr: "0.01",
    optim: '{"name":"adam","betas":[0.9,0.999]}',
    seed: "1",
    warmup: "400",
    width: "1024",
  },
  tags: { team: "mt" },
  provenance: {
    code: {
      repository: "https://git.example.org/asr.git",
      commit: "77aa00112233445566778899aabb1f0c2a91b3de",
      branch: "wide",
      dirtyPatch: PATCH_B,
    },
    command: ["python", "train.py", "--lr", "0.01", "--width", "1024"],
    environment: {
      host: "node-18",
      "gpu.0": "H100",
      "gpu.1": "H100",
      "package:torch": "2.7.1",
      "package:einops": "0.8.0",
    },
  },
};

const DIVERGED: NewRun = { name: "diverged", params: { lr: "1.0", seed: "2" } };

const LAST_LINES = [
  "epoch 1",
  "epoch 2",
  "Traceback (most recent call last):",
  '  File "train.py", line 12, in step',
  "    loss = model(batch)",
  "RuntimeError: loss is NaN",
];

export async function makeSampleRuns(server: Cairn, namespace = "langtech/asr"): Promise<SampleRuns> {
  await server.namespaces.createNamespace({
    path: namespace,
    objective: { metric: "val/acc", direction: Direction.MAXIMIZE },
  });
  await server.metrics.describeKey({
    description: { namespace, key: "train/loss", direction: Direction.MINIMIZE },
  });
  const base = await createRun(server, { ...BASE, namespace });
  const tuned = await createRun(server, { ...TUNED, namespace });
  const wider = await createRun(server, { ...WIDER, namespace });
  const failed = await createRun(server, { ...DIVERGED, namespace: `${namespace}/trials` });
  await Promise.all([
    learn(server, base, 0.7),
    learn(server, tuned, 0.91),
    learn(server, wider, 0.88),
    learn(server, failed, 0.2),
  ]);
  await writeEnvelope(server, failed, {
    status: RunStatus.FAILED,
    log: [{ stream: "stderr", lines: LAST_LINES }],
  });
  for (const run of [base, tuned]) await writeEnvelope(server, run, { status: RunStatus.FINISHED });
  const model = { name: "model.pt", uri: "s3://models/base" };
  await server.artifacts.recordArtifact({ run: { id: base.id }, artifact: model });
  await server.lineage.addSource({
    run: { id: tuned.id },
    source: { id: base.id, artifact: "model.pt" },
  });
  await server.lineage.addSource({ run: { id: tuned.id }, source: { id: "s3://data/librispeech" } });
  await server.lineage.addSource({ run: { id: wider.id }, source: { id: tuned.id } });
  return { base, tuned, wider, failed };
}

const STEPS = 200;

async function learn(server: Cairn, run: Run, accuracy: number): Promise<void> {
  const steps = Array.from({ length: STEPS }, (_, i) => BigInt(i));
  const loss = steps.map((step) => 2 * Math.exp(-Number(step) / 40) + (1 - accuracy));
  const acc = steps.map((step) => accuracy * (1 - Math.exp(-Number(step) / 30)));
  await writeEnvelope(server, run, {
    series: [
      { key: "train/loss", steps, values: loss },
      { key: "val/acc", steps, values: acc },
    ],
  });
}
