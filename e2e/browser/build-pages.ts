import { buildWeb } from "../../web/build.ts";

/** Runs once, before any test file: the pages that all of them show. */
export default async function buildPages(): Promise<void> {
  await buildWeb();
}
