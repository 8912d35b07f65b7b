import type { Scene } from "./scenes.ts";

export const SIZES = [
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
] as const;
export const THEMES = ["light", "dark"] as const;

export function pictureName(
  { name }: Pick<Scene, "name">,
  theme: (typeof THEMES)[number],
  width: number,
): string {
  return `${name}-${theme}-${width}.webp`;
}

/** The README of docs/screens: every scene, light beside dark; a click on the words under them shows the larger size. */
export function galleryOf(scenes: readonly Scene[]): string {
  const rows = scenes.flatMap((scene) => {
    const [small, large] = SIZES;
    const cells = THEMES.map(
      (theme) => `![${scene.about}, ${theme}](${pictureName(scene, theme, small.width)})`,
    );
    const links = THEMES.map((theme) => `[${large.width} wide](${pictureName(scene, theme, large.width)})`);
    return [
      `## ${scene.name}`,
      "",
      `${scene.about}.`,
      "",
      "| light | dark |",
      "| --- | --- |",
      `| ${cells.join(" | ")} |`,
      `| ${links.join(" | ")} |`,
      "",
    ];
  });
  return [
    "# Every page in pictures",
    "",
    "Taken with the data of `cairn demo` by `npm run screens`, which writes this file, too.",
    "",
    ...rows,
  ].join("\n");
}
