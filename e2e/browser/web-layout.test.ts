import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SIZES, THEMES } from "../../tools/screens/gallery.ts";
import { scenes } from "../../tools/screens/scenes.ts";
import { openStages, type Stages } from "../../tools/screens/stages.ts";
import { countRequests, waitUntilStill } from "../../tools/screens/still.ts";
import { expectAccessible, useWebPages } from "./web-page.ts";

const pages = useWebPages({ demo: "none" });
const PHONE = { width: 390, height: 844 };
let stages: Stages;

/** What a browser notes where a scene is about something that fails. */
const EXPECTED: Readonly<Record<string, RegExp>> = {
  "query-error": /status of 400/,
  "not-found": /status of 404/,
  "no-such-run": /status of 40[04]/,
  offline: /ERR_|Failed to fetch/,
  login: /status of 40[13]/,
  "access-tokens": /status of 40[13]/,
  "access-scopes": /status of 40[13]/,
  "access-people": /status of 40[13]/,
  "access-audit": /status of 40[13]/,
};

beforeAll(async () => {
  stages = await openStages("full");
}, 240_000);

afterAll(() => stages.close());

/**
 * Headings, buttons and tabs whose words are cut where nobody can scroll, or run out of the window, without three dots and the whole text in a title. As text,
 * because there is no page where this is checked.
 */
const CUT_TEXTS = `(() => {
  const cut = [];
  for (const element of document.querySelectorAll("h1, h2, h3, h4, button, [role=tab], [role=button]")) {
    if (element.closest(".unseen, [class*=unseen]") || element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) === false) continue;
    const words = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(words.currentNode);
      const { left, right, width } = range.getBoundingClientRect();
      if (width === 0 || words.currentNode.parentElement.closest(".unseen, [class*=unseen]")) continue;
      for (let box = words.currentNode.parentElement; box !== null; box = box.parentElement) {
        const { overflowX, textOverflow } = getComputedStyle(box);
        if (overflowX === "auto" || overflowX === "scroll") break;
        const isRoot = box === document.documentElement;
        if (overflowX === "visible" && !isRoot) continue;
        const edge = box.getBoundingClientRect();
        const from = isRoot ? 0 : edge.left;
        const to = isRoot ? innerWidth : edge.right;
        if (left >= from - 1 && right <= to + 1) continue;
        const isTold = textOverflow === "ellipsis" && (box.closest("[title]") ?? element.closest("[title]")) !== null;
        if (!isTold) cut.push(words.currentNode.data + " in " + box.tagName + "." + box.className);
        break;
      }
    }
  }
  return cut;
})()`;

async function expectFits(page: Page, where: string): Promise<void> {
  const [whole, seen] = await page.evaluate<[number, number]>(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  );
  expect(whole, `width of the document, ${where}`).toBeLessThanOrEqual(seen);
  expect(await page.evaluate<string[]>(CUT_TEXTS), `cut words, ${where}`).toEqual([]);
}

it.each(scenes)("Z88 $name fits at 1280 and 1920 and can be read, light and dark", async (scene) => {
  const expected = EXPECTED[scene.name];
  if (expected !== undefined) pages().forgive(expected);
  const context = await pages().newContext({
    viewport: SIZES[0],
    colorScheme: THEMES[0],
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  countRequests(page);
  const visit = await stages.visit(scene);
  await page.goto(visit.address, { waitUntil: "load" });
  await scene.act?.(page, visit);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      await waitUntilStill(page);
      await expectFits(page, `${colorScheme} at ${size.width}`);
      // Colours do not depend on the width, and to judge them takes longer than all else.
      if (size === SIZES[0]) await expectAccessible(page, ["color-contrast"]);
    }
  }
});

it.each(["home", "runs", "run-overview", "run-artifacts", "run-provenance", "compare", "about", "login"])(
  "Z88 %s is of use on a phone",
  async (name) => {
    const scene = scenes.find((each) => each.name === name)!;
    if (EXPECTED[name] !== undefined) pages().forgive(EXPECTED[name]);
    const context = await pages().newContext({ viewport: PHONE, hasTouch: true });
    const page = await context.newPage();
    countRequests(page);
    const visit = await stages.visit(scene);
    await page.goto(visit.address, { waitUntil: "load" });
    await scene.act?.(page, visit);
    await waitUntilStill(page);
    await expectFits(page, "on a phone");
    await expectAccessible(page);
  },
);

it("Z88 on a phone the tree is behind a button, and choosing closes it", async () => {
  const context = await pages().newContext({ viewport: PHONE, hasTouch: true });
  const page = await context.newPage();
  const { address } = await stages.visit(scenes.find(({ name }) => name === "home")!);
  await page.goto(address, { waitUntil: "load" });
  const tree = page.getByRole("navigation", { name: "Pages and namespaces" });
  await page.getByRole("region", { name: "Recent runs" }).waitFor();
  expect(await tree.isVisible()).toBe(false);
  await page.getByRole("button", { name: "Pages and namespaces" }).click();
  await tree.getByRole("link", { name: /^speech/ }).click();
  await page.waitForURL("**/n/demo/speech");
  await tree.waitFor({ state: "hidden" });
});
