import { RunStatus } from "#proto/cairn/v1/run_pb.ts";

const WORDS: Readonly<Record<number, string>> = {
  [RunStatus.SCHEDULED]: "scheduled",
  [RunStatus.RUNNING]: "running",
  [RunStatus.FINISHED]: "finished",
  [RunStatus.FAILED]: "failed",
  [RunStatus.KILLED]: "killed",
  [RunStatus.LOST]: "lost",
};

/** As the query language has it. */
export function statusWord(status: RunStatus): string {
  return WORDS[status] ?? "unknown";
}
