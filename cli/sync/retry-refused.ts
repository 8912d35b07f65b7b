import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { create, fromBinary } from "@bufbuild/protobuf";
import { DescribeKeyRequestSchema } from "#proto/cairn/v1/key_pb.ts";
import { SourceRefSchema } from "#proto/cairn/v1/lineage_pb.ts";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { RunRefSchema, RunStatus } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { upload, UploadOrder } from "#sdk/delivery/upload.ts";
import { Failure } from "#sdk/failure.ts";
import { FRAME_KIND, frameAt, type Frame } from "#sdk/spool/frame.ts";
import { spooledFilePath } from "#sdk/spool/set-aside.ts";
import type { RefusedFrame } from "#sdk/sync.ts";

const WRITER_DIGITS = 32;

/** Sends a refused frame once more. Throws an Error with the reason when it is refused again, or cannot be sent. */
export async function retryRefused(
  server: Cairn,
  { path, run }: Pick<RefusedFrame, "path" | "run">,
  signal: AbortSignal,
): Promise<void> {
  const frame = frameAt(readFileSync(path), 0);
  if (frame === undefined) throw new Error("the file is damaged");
  if (run === "" && frame.kind !== FRAME_KIND.describe) throw new Error("its run was not written down");
  try {
    // The folder of the writer is two levels above the file.
    await send(server, { run, frame, folder: dirname(dirname(path)) }, signal);
  } catch (thrown) {
    throw Failure.from(thrown, server.url);
  }
}

async function send(
  server: Cairn,
  { run, frame, folder }: { run: string; frame: Frame; folder: string },
  signal: AbortSignal,
): Promise<void> {
  const { kind, body } = frame;
  switch (kind) {
    case FRAME_KIND.envelope:
      await sendEnvelope(server, run, body, signal);
      return;
    case FRAME_KIND.upload: {
      const order = UploadOrder.parse(JSON.parse(body.toString()));
      const path = order.spooled ? spooledFilePath(folder, order.sha256) : order.path;
      await upload(server, run, order, path, signal);
      return;
    }
    case FRAME_KIND.source: {
      const source = fromBinary(SourceRefSchema, body);
      await server.lineage.addSource({ run: { id: run }, source }, { signal });
      return;
    }
    case FRAME_KIND.describe:
      await server.metrics.describeKey(fromBinary(DescribeKeyRequestSchema, body), { signal });
      return;
    default:
      throw new Error("this version does not know what it is; a later one may send it");
  }
}

/**
 * The number of the envelope was declared lost, so that it cannot be used again. Its content gets a writer of its own, of
 * which it is the only envelope: sent twice, it is still stored once.
 */
async function sendEnvelope(server: Cairn, run: string, body: Buffer, signal: AbortSignal): Promise<void> {
  const envelope = fromBinary(EnvelopeSchema, body);
  const writer = createHash("sha256").update(body).digest("hex").slice(0, WRITER_DIGITS);
  // What it says about the moment is over: a run that has ended does not run again.
  const status = envelope.status === RunStatus.RUNNING ? RunStatus.UNSPECIFIED : envelope.status;
  const now = {
    run: create(RunRefSchema, { id: run }),
    writer,
    seq: 1n,
    status,
    heartbeatSeconds: 0,
    lost: [],
  };
  await server.metrics.writeEnvelope({ ...envelope, ...now }, { signal });
}
