/** Loaded before every test file: CAIRN_SEED decides the cases that properties are tried with. */
import fc from "fast-check";

const seed = process.env["CAIRN_SEED"];
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
