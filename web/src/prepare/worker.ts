/** Prepares texts of users for the pages, so that a page stays responsive and can cancel the work (preparer.ts). */
import { htmlPage } from "./html-page.ts";
import { markdownTree } from "./markdown-tree.ts";
import { TooMuch, type Outcome, type Preparations } from "./prepared.ts";
import type { FromWorker, ToWorker } from "./preparer.ts";
import { svgCost } from "./svg-cost.ts";

declare const self: DedicatedWorkerGlobalScope;

const makers: { [K in keyof Preparations]: (text: string) => Preparations[K] } = {
  markdown: markdownTree,
  html: htmlPage,
  svg: svgCost,
};

function prepare({ kind, text }: ToWorker): Outcome<Preparations[keyof Preparations]> {
  try {
    return { value: makers[kind](text) };
  } catch (thrown) {
    return { refused: thrown instanceof TooMuch ? thrown.refusal : "broken" };
  }
}

function post(message: FromWorker): void {
  self.postMessage(message);
}

self.addEventListener("message", ({ data }: MessageEvent<ToWorker>) => post(prepare(data)));
post("ready");
