/** Loaded before every test file: one seed decides the cases that all properties are tried with. */
import fc from "fast-check";
import { seed } from "./dose.ts";

fc.configureGlobal({ seed });
