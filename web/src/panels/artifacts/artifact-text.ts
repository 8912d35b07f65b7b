import { queryOptions } from "@tanstack/react-query";
import { Code } from "@connectrpc/connect";
import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import { Failure } from "#sdk/failure.ts";
import { cairn } from "../../data/server.ts";
import { contentPath } from "#lang/content-path.ts";
import { TEXT_BYTES_MAX } from "./artifact-preview-kind.ts";

/** The beginning of the content, as text. Content never changes under a digest. */
export const artifactText = (artifact: Artifact) =>
  queryOptions({
    queryKey: ["artifact-text", artifact.runId, artifact.name, String(artifact.step), artifact.sha256],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const size = Number(artifact.sizeBytes ?? 0n);
      const isCut = size > TEXT_BYTES_MAX;
      const headers = isCut ? { range: `bytes=0-${TEXT_BYTES_MAX - 1}` } : undefined;
      const response = await cairn.fetch(contentPath(artifact), { signal, ...(headers && { headers }) });
      if (!response.ok) {
        const code = response.status === 404 ? Code.NotFound : Code.Unknown;
        throw new Failure(
          code,
          `cannot read artifact "${artifact.name.slice(0, 200)}": the server answered ${response.status}`,
        );
      }
      const bytes = await response.arrayBuffer();
      return { text: new TextDecoder("utf-8").decode(bytes), isCut };
    },
  });
