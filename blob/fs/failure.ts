import { CairnError } from "#lang/errors.ts";

import { errnoOf } from "./disk.ts";

const FULL = new Set(["ENOSPC", "EDQUOT"]);
const REFUSED = new Set(["EROFS", "EACCES", "EPERM"]);
const BUSY = new Set(["EMFILE", "ENFILE", "ENOMEM", "EIO", "EBUSY", "ESTALE", "ETIMEDOUT"]);

/** Whether the disk had no room; the same call may work once there is some. */
export function isFull(error: unknown): boolean {
  return FULL.has(errnoOf(error) ?? "");
}

/**
 * What a file system threw, as a CairnError. `task` reads: cannot write blob "…". Callers from elsewhere
 * read the hint, so it names no path of this machine.
 */
export function failureFrom(task: string, error: unknown): CairnError {
  if (error instanceof CairnError) return error;
  const errno = errnoOf(error);
  if (errno === undefined) return new CairnError("internal", `${task}: ${String(error)}`, { cause: error });
  if (FULL.has(errno)) {
    return new CairnError("unavailable", `${task}: the disk is full (${errno})`, {
      cause: error,
      reason: "DISK_FULL",
      hint: "free space on the disk that holds the blobs, then try again",
      retryAfterMs: 1_000,
    });
  }
  if (REFUSED.has(errno)) {
    return new CairnError("unavailable", `${task}: the system refuses access (${errno})`, {
      cause: error,
      hint: "let the server's user read and write the folder of blobs",
    });
  }
  if (BUSY.has(errno)) {
    return new CairnError("unavailable", `${task}: the system reports ${errno}`, {
      cause: error,
      hint: "check the disk that holds the blobs and the limits of the server's process",
    });
  }
  if (errno === "ENOENT" || errno === "ENOTDIR" || errno === "ELOOP") {
    return new CairnError(
      "unavailable",
      `${task}: a directory of the blob store is gone or replaced (${errno})`,
      {
        cause: error,
        hint: "restore the folder of blobs, or restart the server to create it again",
      },
    );
  }
  return new CairnError("internal", `${task}: the system reports ${errno}`, { cause: error });
}
