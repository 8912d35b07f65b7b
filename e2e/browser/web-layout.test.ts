import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isLong, seed } from "../../tools/dose.ts";
import { SIZES, THEMES } from "../../tools/screens/gallery.ts";
import { chapters, scenes, type Scene } from "../../tools/screens/scenes.ts";
import { openStages, type Stages } from "../../tools/screens/stages.ts";
import { countRequests, waitUntilStill } from "../../tools/screens/still.ts";
import { goWithin } from "./go-within.ts";
import { expectAccessible, useWebPages } from "./web-page.ts";

const pages = useWebPages({ demo: "none" });
const PHONE = { width: 390, height: 844 };
/** As seldom as a run may log that is not to count as lost: each time the pages draw. */
const TICK_MS = 10_000;
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
  "access-new-user": /status of 40[13]/,
  "no-role": /status of 40[13]/,
};

beforeAll(async () => {
  stages = await openStages({ scale: "full", tickMs: TICK_MS });
}, 240_000);

afterAll(() => stages.close());

/**
 * Headings, buttons and tabs whose words are cut off where scrolling is impossible, or run out of the window, without three dots and the whole text in a title. As text,
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

/** Opens one scene after the other. In a dose those of the demo share a page, as they do for a person who clicks on; otherwise each has its own. */
function openScenes(options: Parameters<Browser["newContext"]>[0]): (scene: Scene) => Promise<Page> {
  let page: Page | undefined;
  let isShared = false;
  return async (scene) => {
    const visit = await stages.visit(scene);
    const mayShare = !isLong && scene.stage === undefined;
    if (page !== undefined && isShared && mayShare) {
      // What the last scene opened, or points at, goes.
      await page.mouse.move(0, 0);
      await page.keyboard.press("Escape");
      await goWithin(page, visit.address.slice(new URL(visit.address).origin.length));
    } else {
      await page?.close();
      page = await (await pages().newContext(options)).newPage();
      countRequests(page);
      await page.goto(visit.address, { waitUntil: "load" });
    }
    isShared = mayShare;
    await scene.act?.(page, visit);
    return page;
  };
}

/** What fails at a scene says at which. */
async function atScene(scene: Scene, look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    throw new Error(`scene "${scene.name}" (seed ${seed}): ${String(error)}`, { cause: error });
  }
}

/** Scenes in sequence. If a browser reports an expected message, no other check is made. */
const WALKS = [
  ...Object.entries(chapters).map(([name, all]) => ({
    name,
    walk: all.filter((scene) => EXPECTED[scene.name] === undefined),
  })),
  ...scenes
    .filter(({ name }) => EXPECTED[name] !== undefined)
    .map((scene) => ({ name: scene.name, walk: [scene] })),
];

it.each(WALKS)(
  "Z88 $name: all fits at 1280 and 1920 and can be read, light and dark",
  async ({ name, walk }) => {
    if (EXPECTED[name] !== undefined) pages().forgive(EXPECTED[name]);
    for (const [turn, colorScheme] of THEMES.entries()) {
      const open = openScenes({ viewport: SIZES[0], colorScheme, reducedMotion: "reduce" });
      // A dose has each scene in one of the colours, and its neighbours in the other.
      const some = walk.filter(
        (scene) => isLong || (scenes.indexOf(scene) + seed + turn) % THEMES.length === 0,
      );
      for (const scene of some) {
        await atScene(scene, async () => {
          const page = await open(scene);
          for (const size of SIZES) {
            await page.setViewportSize(size);
            await waitUntilStill(page);
            await expectFits(page, `${colorScheme} at ${size.width}`);
            // Colours do not depend on the width, and to judge them takes longer than all else.
            if (size === SIZES[0]) await expectAccessible(page, ["color-contrast"]);
          }
        });
      }
    }
  },
);

it.each([
  {
    what: "every kind of page",
    names: ["home", "runs", "run-overview", "run-artifacts", "run-provenance", "compare", "about"],
  },
  { what: "login", names: ["login"] },
])("Z88 $what is of use on a phone", async ({ what, names }) => {
  if (EXPECTED[what] !== undefined) pages().forgive(EXPECTED[what]);
  const open = openScenes({ viewport: PHONE, hasTouch: true });
  for (const scene of scenes.filter(({ name }) => names.includes(name))) {
    await atScene(scene, async () => {
      const page = await open(scene);
      await waitUntilStill(page);
      await expectFits(page, "on a phone");
      await expectAccessible(page);
    });
  }
});

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
