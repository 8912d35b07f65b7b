import { CairnError, quote } from "#lang/errors.ts";
import { canonicalJson } from "#lang/json/canonical.ts";
import { joinObject } from "#lang/json/object-text.ts";
import type { Runs } from "#core/runs/runs.ts";
import { readBody } from "#wire/kit/body.ts";
import { sendNothing } from "#wire/kit/respond.ts";
import { ANY_TYPE, type Call, type Route } from "#wire/kit/router.ts";
import { sendHeavy } from "#wire/kit/send-heavy.ts";
import type { Traffic } from "#wire/kit/traffic.ts";
import { Places } from "./place.ts";

const PATH = "/results/*path";
/** A record is a param; what is larger is refused with the limit of those. */
const BODY_BYTES_MAX = 1 << 20;
const JSON_TYPE = "application/json; charset=utf-8";

/**
 * Records of TorchX's ResultTracker as plain HTTP: PUT and GET /results/NAMESPACE/RUN/KEY with a JSON object. That is
 * what fsspec's file system for HTTP sends, so that the stock FsspecResultTracker works with nothing but an address. A
 * record is a param of the run, whose alias and name is RUN; the first PUT makes it, as a finished one.
 */
export function resultRoutes(runs: Runs, traffic: Pick<Traffic, "work" | "answers">): Route[] {
  const places = new Places(runs);
  return [
    { method: "GET", path: PATH, permission: "read", handler: (call) => getRecord(places, traffic, call) },
    {
      method: "PUT",
      path: PATH,
      permission: "write",
      // fsspec names none that would say anything.
      accepts: [ANY_TYPE],
      handler: (call) => putRecord(places, runs, call),
    },
  ];
}

async function getRecord(
  places: Places,
  traffic: Pick<Traffic, "work" | "answers">,
  call: Call,
): Promise<void> {
  const path = call.params.get("path")!;
  // All params of the runs along the path are read for it, and all of one may be the answer.
  await sendHeavy(traffic, call, JSON_TYPE, async (caller) => {
    const found = await places.find(caller, path);
    if (found === undefined) throw new CairnError("not-found", `cannot find results ${quote(path)}`);
    const { key, records } = found;
    return Buffer.from(key === "" ? joinObject(records) : records.get(key)!);
  });
}

async function putRecord(places: Places, runs: Runs, call: Call): Promise<void> {
  const { caller, params, request, response, account } = call;
  const path = params.get("path")!;
  const text = (await readBody(request, { account, maxBytes: BODY_BYTES_MAX })).toString();
  const json = canonicalJson(text, `record ${quote(path)}`);
  if (!json.startsWith("{")) {
    throw new CairnError("invalid", `cannot store record ${quote(path)}: it is not a JSON object`);
  }
  const { namespace, run, key } = places.choose(caller, path);
  const made = await runs.create(
    caller,
    {
      namespace,
      name: run,
      aliases: [run],
      params: new Map(),
      tags: new Map(),
      provenance: undefined,
      // Nothing would ever end it: the client writes records and says no more.
      status: "finished",
      notes: "",
      startedUs: undefined,
      getOrCreate: true,
    },
    "omit",
  );
  const change = { params: new Map([[key, json]]) };
  const entry = { action: "put-result", facts: { key } };
  await runs.update(caller, { by: "id", id: made.run.id }, change, "omit", entry);
  sendNothing(response);
}
