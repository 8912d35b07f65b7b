import type { Artifacts } from "#core/artifacts/artifacts.ts";
import { sendJson } from "#wire/kit/respond.ts";
import { ANY_TYPE, type Route } from "#wire/kit/router.ts";
import { askedArtifact } from "./asked.ts";
import { getArtifact } from "./get.ts";
import { putArtifact } from "./put.ts";

const PATH = "/artifacts/:run/*name";

/** The content of artifacts as plain HTTP; everything else about them is ArtifactService's. */
export function artifactRoutes(artifacts: Artifacts): Route[] {
  return [
    {
      method: "PUT",
      path: PATH,
      permission: "write",
      accepts: [ANY_TYPE],
      streams: true,
      handler: (call) => putArtifact(artifacts, call),
    },
    {
      method: "GET",
      path: PATH,
      permission: "read",
      streams: true,
      byBrowser: true,
      handler: (call) => getArtifact(artifacts, call),
    },
    {
      method: "DELETE",
      path: PATH,
      permission: "write",
      accepts: ["", "application/json"],
      handler: async (call) => {
        const deleted = await artifacts.delete(call.caller, askedArtifact(call));
        sendJson(call.response, 200, { deletedCount: String(deleted) });
      },
    },
  ];
}
