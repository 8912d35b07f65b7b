import type { Clock } from "#base/clock.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import { maySee, type Caller } from "../access/caller.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { checkArtifactName } from "../types/artifact-name.ts";
import type { Artifact, ReplacedArtifact } from "../types/artifact.ts";
import { requireText } from "../types/check.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { Follower } from "../journal/follower.ts";
import type { ArtifactStore, VersionPlace } from "../ports/artifact-store.ts";
import type { RunStore } from "../ports/run-store.ts";
import { fillPage } from "../lists/fill-page.ts";
import { pageSize } from "../lists/page-size.ts";
import { artifactRecord } from "./artifact-record.ts";
import type { BlobSweep } from "./blob-sweep.ts";
import { locateArtifact, locateRun, missingVersion, seekArtifact } from "./locate.ts";

const DAY_US = 86_400_000_000;
const EXPIRED_AT_ONCE = 1_000;

/** Versions of artifacts that were replaced or deleted: kept for a while, so that a mistake can be undone. */
export class Replaced {
  readonly #store: ArtifactStore;
  readonly #runs: RunStore;
  readonly #clock: Clock;
  readonly #sweep: BlobSweep;
  readonly #follower: Follower;

  constructor(parts: {
    store: ArtifactStore;
    runs: RunStore;
    clock: Clock;
    sweep: BlobSweep;
    follower: Follower;
  }) {
    this.#store = parts.store;
    this.#runs = parts.runs;
    this.#clock = parts.clock;
    this.#sweep = parts.sweep;
    this.#follower = parts.follower;
  }

  /** Newest first, without those whose name is closed to the caller. */
  async list(
    caller: Caller,
    request: { run: RunRef; prefix: string; pageSize: number; pageToken: string },
  ): Promise<{ artifacts: ReplacedArtifact[]; nextPageToken: string }> {
    const limit = pageSize(request.pageSize);
    const begin = request.pageToken === "" ? undefined : placeFromText(request.pageToken);
    const prefix = requireText(request.prefix, limits.artifactNameBytesMax, "prefix");
    const { id: runId, namespace } = await locateRun(this.#runs, caller, request.run);
    const { items, last } = await fillPage<ReplacedArtifact, ReplacedArtifact>(
      limit,
      (looked, bound) =>
        this.#store.listReplaced({
          runId,
          prefix,
          after: looked === undefined ? begin : placeOf(looked),
          ...bound,
        }),
      (version) => (maySee(caller, { namespace, runId, artifact: version.name }) ? version : undefined),
    );
    return { artifacts: items, nextPageToken: last === undefined ? "" : placeToText(last) };
  }

  /** Makes a version the artifact again. The current artifact becomes a version. */
  async restore(caller: Caller, request: { run: RunRef; name: string; version: number }): Promise<Artifact> {
    const { version } = request;
    const checked = checkArtifactName(request.name);
    const scope = await locateArtifact(this.#runs, caller, request.run, checked, (id) =>
      missingVersion(id, checked, version),
    );
    const nowUs = this.#clock.nowUs();
    const { runId, namespace, artifact: name } = scope;
    const facts = { namespace, version: String(version) };
    const audit = auditRecord(caller, nowUs, "restore-artifact", `${runId}/${name}`, facts);
    const artifact = await this.#store.restoreReplaced({ runId, name, version }, nowUs, audit);
    await this.#sweep.collectSoon();
    return artifact;
  }

  /** Destroys the versions of one name, or of all of the run. Returns how many. */
  async purge(caller: Caller, request: { run: RunRef; name: string }): Promise<number> {
    const nowUs = this.#clock.nowUs();
    if (request.name !== "") {
      const name = checkArtifactName(request.name);
      const { isHidden, ...scope } = await seekArtifact(this.#runs, caller, request.run, name);
      if (isHidden) return 0;
      const audit = artifactRecord(caller, nowUs, "purge-artifact", scope, undefined);
      return this.#destroyed(await this.#store.purgeReplaced(scope.runId, scope.artifact, audit));
    }
    const { id: runId, namespace } = await locateRun(this.#runs, caller, request.run);
    const audit = auditRecord(caller, nowUs, "purge-artifact", runId, { namespace });
    return this.#destroyed(await this.#store.purgeReplaced(runId, undefined, audit));
  }

  /** Destroys those that were kept long enough. Returns how many. */
  async expire(): Promise<number> {
    const beforeUs = this.#clock.nowUs() - limits.replacedDays * DAY_US;
    let expired = 0;
    for (;;) {
      const count = await this.#destroyed(await this.#store.expireReplaced(beforeUs, EXPIRED_AT_ONCE));
      expired += count;
      if (count < EXPIRED_AT_ONCE) return expired;
    }
  }

  async #destroyed(count: number): Promise<number> {
    if (count === 0) return 0;
    // Bindings on a name are deleted with its last version.
    await this.#follower.catchUp();
    await this.#sweep.collectSoon();
    return count;
  }
}

function placeOf({ replacedUs, version, name }: ReplacedArtifact): VersionPlace {
  return { replacedUs, version, name };
}

/** What the caller sees of the last one: a number over all versions would disclose how many are hidden. */
function placeToText({ replacedUs, version, name }: VersionPlace): string {
  return `${replacedUs}.${version}.${name}`;
}

function placeFromText(pageToken: string): VersionPlace {
  const match = /^([0-9]{1,16})\.([1-9][0-9]{0,15})\.([^]{1,1024})$/.exec(pageToken);
  if (match !== null) {
    return { replacedUs: Number(match[1]), version: Number(match[2]), name: match[3]! };
  }
  throw new CairnError("invalid", `cannot use page token ${quote(pageToken)}`, {
    hint: "send the next_page_token of the page before, with the same request",
  });
}
