import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  CreateRunRequestSchema,
  type CreateRunRequest,
  type ProvenanceSchema,
} from "#proto/cairn/v1/run_pb.ts";
import { ID_ALIAS } from "../delivery/delivery.ts";
import type { InitOptions } from "./init-options.ts";
import { limits } from "#lang/limits.ts";
import type { Notices } from "./notices.ts";
import { paramTexts } from "./params.ts";
import { cutText, keyProblem, namespaceProblem } from "./problems.ts";
import { statedProvenance } from "./statements/stated-provenance.ts";
import { tagTexts } from "./tags.ts";
import { wrong } from "./wrong.ts";

/** Which run a process writes to. */
export type RunTarget =
  /** An existing one, by its id, and its namespace, if the server has named it. */
  | { by: "id"; id: string; namespace?: string }
  /** The one that carries the alias, or a new one that does. */
  | { by: "alias"; alias: string }
  | { by: "new"; writer: string };

/** The content of the open frame. Throws TypeError for invalid names. */
export function openRequest(
  options: InitOptions,
  target: RunTarget,
  startedUs: number,
  notices: Notices,
  captured?: ProvenanceInit,
): CreateRunRequest {
  const { namespace = "", name = "", notes = "", params = {}, tags = {} } = options;
  const problem = namespace === "" ? undefined : namespaceProblem(namespace);
  if (problem !== undefined) throw wrong("namespace", namespace, problem);
  if (target.by === "id") {
    return create(CreateRunRequestSchema, { aliases: [ID_ALIAS + target.id], getOrCreate: true });
  }
  if (target.by === "alias") {
    const trouble = keyProblem(target.alias, limits.aliasBytesMax);
    if (trouble !== undefined) throw wrong("alias", target.alias, trouble);
  }
  const stated = statedProvenance(options);
  // What is stated counts.
  const provenance = captured === undefined ? stated : { ...captured, ...stated };
  return create(CreateRunRequestSchema, {
    namespace,
    name: cutText(name, limits.nameBytesMax),
    notes: cutText(notes, limits.notesBytesMax),
    aliases: [target.by === "alias" ? target.alias : `cairn:${target.writer}`],
    params: Object.fromEntries(paramTexts(params, new Map(), notices)),
    tags: Object.fromEntries(tagTexts(tags, new Set(), notices)),
    ...(provenance !== undefined && { provenance }),
    startedUs: BigInt(startedUs),
    getOrCreate: true,
  });
}

/** Where the run of a target is, as far as that is known without asking. A server puts runs without a namespace into `default`. */
export function namespaceOf(target: RunTarget, { namespace, resume = "" }: InitOptions): string | undefined {
  if (target.by !== "id") return namespace || "default";
  const slash = resume.lastIndexOf("/");
  return target.namespace ?? (namespace || (slash > 0 ? resume.slice(0, slash) : undefined));
}

export type ProvenanceInit = Exclude<MessageInitShape<typeof ProvenanceSchema>, { $typeName: string }>;
