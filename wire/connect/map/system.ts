import { create } from "@bufbuild/protobuf";
import type { SeqRange } from "#core/types/envelope.ts";
import type { RunLedger } from "#core/ports/run-store.ts";
import type { Backup } from "#core/system/backup-files.ts";
import type { Info } from "#core/system/system.ts";
import {
  BackupSchema,
  CheckIntegrityResponseSchema,
  InfoSchema,
  VerifyRunResponseSchema,
} from "#proto/cairn/v1/system_pb.ts";

export function fromInfo(info: Info) {
  return create(InfoSchema, {
    version: info.version,
    startedUs: BigInt(info.startedUs),
    engines: { ...info.engines },
    runCount: BigInt(info.runs),
    seriesCount: BigInt(info.series),
    pointCount: BigInt(info.points),
    sizeBytes: BigInt(info.sizeBytes),
    formatVersion: info.formatVersion,
  });
}

export function fromVerified(ledger: RunLedger & { runId: string; verdict: string }) {
  return create(VerifyRunResponseSchema, {
    runId: ledger.runId,
    verdict: ledger.verdict,
    points: BigInt(ledger.points),
    unnumberedEnvelopes: BigInt(ledger.unnumberedEnvelopes),
    problems: ledger.problems,
    truncated: ledger.truncated,
    writers: ledger.writers.map((writer) => ({
      writer: writer.writer,
      envelopes: BigInt(writer.envelopes),
      lastSeq: BigInt(writer.lastSeq),
      lost: writer.lost.map(fromRange),
      gaps: writer.gaps.map(fromRange),
      firstReceivedUs: BigInt(writer.firstReceivedUs),
      lastReceivedUs: BigInt(writer.lastReceivedUs),
    })),
  });
}

export function fromBackup({ name, createdUs, sizeBytes }: Backup) {
  return create(BackupSchema, { name, createdUs: BigInt(createdUs), sizeBytes: BigInt(sizeBytes) });
}

export function fromIntegrity({
  points,
  runs,
  problems,
}: {
  points: number;
  runs: number;
  problems: string[];
}) {
  return create(CheckIntegrityResponseSchema, {
    ok: problems.length === 0,
    checkedPoints: BigInt(points),
    checkedRuns: BigInt(runs),
    problems,
  });
}

function fromRange({ first, last }: SeqRange) {
  return { first: BigInt(first), last: BigInt(last) };
}
