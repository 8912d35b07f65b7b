import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";

import { readSources, ROOT } from "./sources.ts";

const SERVER_SIDE = ["server", "core", "wire", "store", "blob", "base"].map((folder) => `${folder}/**/*.ts`);
const IN_TESTS = /\.test\.ts$|\/testing(?:\.ts|\/)|^store\/contract\//;
/** Ways to open a connection to somewhere, or to look a name up. */
const IMPORTED =
  /import\s*\{[^}]*\b(?:connect|request|get|createConnection|createSocket|lookup|resolve\w*)\b[^}]*\}\s*from\s*"node:(?:net|tls|http|https|http2|dns|dgram)\b/;
const CALLED =
  /\bfetch\(|\b(?:http|https|http2|net|tls|dns)\.(?:request|get|connect|createConnection|lookup)\(|\bcreate(?:Connect|Grpc|GrpcWeb)Transport\(/;

it("S4 no code of the server opens a connection or looks a name up", async () => {
  const found: string[] = [];
  for (const [file, text] of await readSources(SERVER_SIDE)) {
    if (!IN_TESTS.test(file) && (IMPORTED.test(text) || CALLED.test(text))) found.push(file);
  }
  expect(found).toEqual([]);
});

/** Modules and functions that deserialize bytes by running code. Names of files, such as in a table of media types, may have these words. */
const UNPICKLING =
  /\b(?:import|from)\s+(?:[\w.]+\s*,\s*)*(?:_?pickle|joblib|dill|cloudpickle|marshal)\b|import_module\(\s*["'](?:_?pickle|joblib|dill|cloudpickle|marshal)|\b(?:pickle|joblib|dill|cloudpickle|marshal|torch|numpy|np)\.loads?\b|\bunpickl/i;

it("S23 the Python client and the TorchX plugin open no pickled content", async () => {
  const found: string[] = [];
  for await (const file of glob("sdk/python/{cairn,torchx_plugins}/**/*.py", { cwd: ROOT })) {
    if (UNPICKLING.test(await readFile(join(ROOT, file), "utf8"))) found.push(file);
  }
  expect(found).toEqual([]);
});
