import { CairnError, quote } from "./errors.ts";

/** Which content of a run. */
export interface ContentName {
  runId: string;
  name: string;
  step?: bigint | number | undefined;
}

/** `/artifacts/RUN_ID/NAME` with its step: where the content of an artifact is read and written. Throws `invalid` for a name that would lead to another run. */
export function contentPath({ runId, name, step }: ContentName): string {
  const parts = name.split("/");
  // However they are encoded, a URL loses them, and a part before them as well.
  if (parts.some((part) => part === "." || part === "..")) {
    throw new CairnError("invalid", `cannot use artifact name ${quote(name)}: it has a part of dots alone`);
  }
  return `/artifacts/${runId}/${parts.map(encodeURIComponent).join("/")}${step === undefined ? "" : `?step=${step}`}`;
}
