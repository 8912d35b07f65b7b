import type { MessageInitShape } from "@bufbuild/protobuf";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { UpdateRunRequestSchema } from "#proto/cairn/v1/run_pb.ts";
import { runById } from "../../../data/queries.ts";
import { cairn } from "../../../data/server.ts";

type Change = Omit<MessageInitShape<typeof UpdateRunRequestSchema>, "run" | "$typeName">;

/** Changes a run and shows the new state. */
export function useUpdateRun(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => cairn.runs.updateRun({ ...change, run: { id } }),
    onSuccess: (run) => client.setQueryData(runById(id).queryKey, run),
  });
}
