import { openMemoryBlobStore } from "#blob/memory/memory-blob-store.ts";
import type { Access } from "#core/access/access.ts";
import { OWNER, type Caller } from "#core/access/caller.ts";
import type { Permission } from "#core/types/permission.ts";
import type { Role } from "#core/types/role.ts";
import type { Artifacts } from "#core/artifacts/artifacts.ts";
import { choreList } from "#core/chores/list.ts";
import type { UploadHead } from "#core/artifacts/uploads.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { BlobsUnderTest } from "#store/contract/blob-under-test.ts";
import { buildCore, type CoreUnderTest } from "#store/contract/core-under-test.ts";
import { here } from "#store/contract/access-under-test.ts";
import { createRun } from "#store/contract/stores.ts";
import { openInMemory, type SqliteUnderTest } from "#store/sqlite/testing/under-test.ts";

/** Artifacts on a real store in memory, with real access and a clock that a test may set. */
export interface ArtifactCore {
  under: SqliteUnderTest;
  core: CoreUnderTest;
  access: Access;
  artifacts: Artifacts;
  blobs: BlobsUnderTest;
  /** Content that could not be destroyed. */
  failures: unknown[];
  newRun(namespace?: string): Promise<string>;
  /** A caller with a role in a namespace, or with none. */
  user(
    name: string,
    bound?: { role: Role; namespace?: string; runId?: string; artifact?: string },
  ): Promise<(permission: Permission) => Caller>;
  /** Does every chore once. */
  tidy(): Promise<void>;
  /** Digests of everything stored. */
  digests(): Promise<string[]>;
  discard(): Promise<void>;
}

export async function openArtifactCore(
  wrap: (blobs: BlobsUnderTest) => BlobsUnderTest = (blobs) => blobs,
): Promise<ArtifactCore> {
  const under = await openInMemory();
  const blobs = wrap(openMemoryBlobStore());
  const failures: unknown[] = [];
  const core = await buildCore(under, { blobs, onSweepFailure: (thrown) => failures.push(thrown) });
  const { access, artifacts } = core;
  // Blobs are stamped by the system's clock.
  core.clock.us = Date.now() * 1000;
  const administrator: Caller = { ...OWNER, permission: "administer" };
  return {
    under,
    core,
    access,
    artifacts,
    blobs,
    failures,
    newRun: (namespace = "lab") => createRun(under.runs, { namespace }),
    user: async (name, bound) => {
      await access.createPrincipal(administrator, { name, kind: "user", displayName: "", password: "" });
      if (bound !== undefined) {
        const { role, namespace = "", runId = "", artifact = "" } = bound;
        await access.bindRole(administrator, {
          principal: name,
          role,
          scope: { namespace, runId, artifact },
        });
      }
      const asked = { principal: name, name: "", role: undefined, namespaces: [], days: 0 };
      const { secret } = await access.createToken(administrator, asked);
      return (permission) => ({ ...here(access.identify(secret)), permission });
    },
    tidy: async () => {
      for (const chore of choreList({ runs: core.runs, artifacts })) await chore.run();
    },
    digests: async () => {
      const all: string[] = [];
      for await (const { digest } of blobs.list()) all.push(digest);
      return all.toSorted();
    },
    discard: async () => {
      await core.close();
      await blobs.close();
      await under.discard();
    },
  };
}

export const WRITER: Caller = { ...OWNER, permission: "write" };
export const READER: Caller = { ...OWNER, permission: "read" };

export function byId(id: string): RunRef {
  return { by: "id", id };
}

export function head(name: string, parts: Partial<UploadHead> = {}): UploadHead {
  return { name, step: undefined, kind: "file", mediaType: "", metadata: new Map(), ...parts };
}

export async function* streamOf(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
