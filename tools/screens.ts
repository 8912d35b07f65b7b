/**
 * Takes the pictures of docs/screens: every scene of tools/screens/scenes.ts with the data of the demo, light and dark, at two sizes: `npm run screens`. Names of
 * scenes take only those.
 */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { inParallel } from "#base/in-parallel.ts";
import { launchChromium } from "../e2e/browser/chromium.ts";
import { scenes, type Scene } from "./screens/scenes.ts";
import { galleryOf, pictureName, SIZES, THEMES } from "./screens/gallery.ts";
import { openStages, type Stages } from "./screens/stages.ts";
import { countRequests, waitUntilStill } from "./screens/still.ts";
import { ROOT } from "./sources.ts";

const FOLDER = join(ROOT, "docs", "screens");
const FOLDER_BYTES_MAX = 8_000_000;
const PAGE_MS_MAX = 60_000;
const AT_ONCE = 2;
/** 1 is lossless, which is smaller where a page is mostly flat. The smallest of these is kept. */
const QUALITIES = [1, 0.5];

async function takeScene(browser: Browser, stages: Stages, encoder: Page, scene: Scene): Promise<void> {
  for (const size of SIZES) {
    const context = await browser.newContext({
      viewport: size,
      colorScheme: THEMES[0],
      reducedMotion: "reduce",
    });
    try {
      context.setDefaultTimeout(PAGE_MS_MAX);
      const page = await context.newPage();
      countRequests(page);
      const visit = await stages.visit(scene);
      await page.goto(visit.address, { waitUntil: "load" });
      await scene.act?.(page, visit);
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme });
        await waitUntilStill(page);
        const png = await (scene.part === undefined ? page : page.getByRole(scene.part)).screenshot();
        writeFileSync(join(FOLDER, pictureName(scene, colorScheme, size.width)), await toWebp(encoder, png));
      }
    } finally {
      await context.close();
    }
  }
}

/** WebP is much smaller than PNG, and the browser has an encoder. */
async function toWebp(encoder: Page, png: Buffer): Promise<Buffer> {
  const base64 = await encoder.evaluate<string>(
    `(async () => {
      const picture = await createImageBitmap(await (await fetch("data:image/png;base64,${png.toString("base64")}")).blob());
      const canvas = new OffscreenCanvas(picture.width, picture.height);
      canvas.getContext("2d").drawImage(picture, 0, 0);
      const blobs = await Promise.all(${JSON.stringify(QUALITIES)}.map((quality) => canvas.convertToBlob({ type: "image/webp", quality })));
      const [smallest] = blobs.toSorted((a, b) => a.size - b.size);
      return new Uint8Array(await smallest.arrayBuffer()).toBase64();
    })()`,
  );
  return Buffer.from(base64, "base64");
}

function chosen(names: readonly string[]): readonly Scene[] {
  for (const name of names) {
    if (!scenes.some((scene) => scene.name === name)) {
      throw new Error(`unknown scene "${name}"; scenes are ${scenes.map((scene) => scene.name).join(", ")}`);
    }
  }
  return names.length === 0 ? scenes : scenes.filter(({ name }) => names.includes(name));
}

const names = process.argv.slice(2);
const wanted = chosen(names);
const beganMs = performance.now();
if (names.length === 0) rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const stages = await openStages({ scale: "full" });
const browser = await launchChromium();
const encoder = await browser.newPage();
const failures: string[] = [];
await inParallel(wanted, AT_ONCE, async (scene) => {
  try {
    await takeScene(browser, stages, encoder, scene);
  } catch (thrown) {
    failures.push(`${scene.name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
});
await browser.close();
await stages.close();
writeFileSync(join(FOLDER, "README.md"), galleryOf(scenes));
const bytes = readdirSync(FOLDER).reduce((sum, file) => sum + statSync(join(FOLDER, file)).size, 0);
const seconds = ((performance.now() - beganMs) / 1000).toFixed(0);
console.log(`${wanted.length} scenes in ${seconds} s, ${(bytes / 1e6).toFixed(1)} MB in docs/screens`);
if (bytes > FOLDER_BYTES_MAX) failures.push(`docs/screens is larger than ${FOLDER_BYTES_MAX / 1e6} MB`);
for (const failure of failures) console.error(failure);
if (failures.length > 0) process.exitCode = 1;
