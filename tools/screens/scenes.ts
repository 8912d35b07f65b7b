import type { Page } from "playwright-core";
import { ACCESS } from "./access-scenes.ts";

/**
 * The server of a scene: with the data of the demo, without runs, with a required sign-in, or a separate one that the
 * scene stops.
 */
type Stage = "demo" | "empty" | "closed" | "leaving";

/** The server of a scene. */
export interface Visit {
  /** The whole address at which it begins. */
  address: string;
  /** Of the administrator, if one is required. */
  token: string;
  stop(): Promise<void>;
}

/** A page after a few steps. The pictures in docs/screens and the test of the layout use all of them. */
export interface Scene {
  /** Of the file, too. */
  name: string;
  /** A description, for the table of pictures. */
  about: string;
  stage?: Stage;
  path: string | ((id: (key: string) => string) => string);
  /** Only this element is in the picture. */
  part?: "dialog";
  /** The steps from the opened page to the scene. */
  act?: (page: Page, visit: Visit) => Promise<void>;
}

const SWEEP = "/n/demo/speech/sweep";
const chartOf = (page: Page, key: string) => page.getByRole("img", { name: new RegExp(`^${key} by`) });
const queryBar = (page: Page) => page.getByRole("combobox", { name: "Query" });
const charts = (of: Record<string, unknown>) => `charts=${encodeURIComponent(JSON.stringify(of))}`;
const list = (name: string, ...values: string[]) => `${name}=${encodeURIComponent(JSON.stringify(values))}`;
const query = (text: string) => `q=${encodeURIComponent(text)}`;

async function tab(page: Page, name: string): Promise<void> {
  await page.getByRole("tab", { name, selected: true }).waitFor();
}

/** In the middle of a chart, where something is drawn; a click pins what is shown there. */
async function pin(page: Page, key: string): Promise<void> {
  const box = (await chartOf(page, key).first().boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5);
  await page.getByRole("tooltip").waitFor();
  await page.mouse.down();
  await page.mouse.up();
  await page.getByRole("dialog", { name: /^Values at/ }).waitFor();
}

const HOME: readonly Scene[] = [
  {
    name: "home-empty",
    about: "The first start: ways to log a first run, and the demo",
    stage: "empty",
    path: "/",
    act: (page) => page.getByRole("heading", { name: "No runs yet" }).waitFor(),
  },
  {
    name: "home",
    about: "Namespaces with their running runs and the best value of each objective",
    path: "/",
    act: (page) => page.getByRole("region", { name: "Recent runs" }).waitFor(),
  },
  {
    name: "objective",
    part: "dialog",
    about: "The metric by which the runs of a namespace are compared",
    path: "/",
    async act(page) {
      await page
        .getByRole("row", { name: /^speech / })
        .getByRole("button")
        .click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "search",
    about: "Ctrl K finds runs, namespaces, metrics and pages",
    path: "/",
    async act(page) {
      await page.getByRole("region", { name: "Recent runs" }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("wav");
      await page.getByRole("option").nth(3).waitFor();
    },
  },
  {
    name: "keys",
    part: "dialog",
    about: "? shows all keys",
    path: SWEEP,
    async act(page) {
      await chartOf(page, "train/loss").waitFor();
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
    },
  },
];

const RUNS: readonly Scene[] = [
  {
    name: "runs",
    about: "Runs as a live table, with charts of the visible ones",
    path: "/n/demo",
    act: (page) => chartOf(page, "train/loss").waitFor(),
  },
  {
    name: "runs-sorted",
    about: "The best runs of a sweep, by a query; hovering a line highlights its run everywhere",
    path: `${SWEEP}?${query('params.lr <= 0.001 and status = "finished" order by metrics."val/wer".min')}`,
    async act(page) {
      const box = (await chartOf(page, "train/loss").boundingBox())!;
      await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.7);
      await page.getByRole("tooltip").waitFor();
    },
  },
  {
    name: "runs-table",
    about: "The table alone, with chosen columns",
    path: `${SWEEP}?split=100&${query('order by metrics."val/wer".min')}`,
    act: (page) => page.getByRole("row").nth(3).waitFor(),
  },
  {
    name: "runs-grouped",
    about: "Groups with their figures; each is one line with a band",
    path: `${SWEEP}?${query('status = "finished" order by metrics."val/wer".min')}&${list("group", "params.depth", "params.lr")}&${charts({ group: "mean-std" })}`,
    act: (page) => chartOf(page, "train/loss").waitFor(),
  },
  {
    name: "query-completion",
    about: "Fields, operators and values are completed",
    path: SWEEP,
    async act(page) {
      await chartOf(page, "train/loss").waitFor();
      await queryBar(page).pressSequentially("params.");
      await page.getByRole("option").nth(3).waitFor();
    },
  },
  {
    name: "query-error",
    about: "A mistake is shown at its column while the rows stay",
    path: SWEEP,
    async act(page) {
      await chartOf(page, "train/loss").waitFor();
      await queryBar(page).fill("params.lr > 0.0003 adn params.depth = 12");
      await queryBar(page).press("Enter");
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "columns",
    about: "Columns from any param, tag, metric or field",
    path: SWEEP,
    async act(page) {
      await chartOf(page, "train/loss").waitFor();
      await page.getByRole("button", { name: /^Columns/ }).click();
      await page.getByRole("textbox", { name: "Find a column" }).waitFor();
    },
  },
];

const CHARTS: readonly Scene[] = [
  {
    name: "charts",
    about: "All charts of many runs, smoothed, with the raw line behind",
    path: `${SWEEP}?split=25&${query("params.seed = 2")}&${charts({ smooth: "ema-0.8" })}`,
    act: (page) => chartOf(page, "train/loss").waitFor(),
  },
  {
    name: "charts-zoomed",
    about: "A zoom is read again at its resolution, in all charts with the same x",
    path: `${SWEEP}?split=40&${charts({ range: "100..220", smooth: "gauss-3", keys: "train/*" })}`,
    act: (page) => chartOf(page, "train/loss").waitFor(),
  },
  {
    name: "charts-bands",
    about: "Mean and 95 % interval of groups, on a log axis",
    path: `${SWEEP}?split=25&${query('status = "finished"')}&${list("group", "params.lr")}&${charts({ group: "mean-ci95", logy: true, keys: "/loss|norm|lr/" })}`,
    act: (page) => chartOf(page, "train/loss").waitFor(),
  },
  {
    name: "charts-pinned",
    about: "Values under the crosshair, sorted, pinned and searchable",
    path: `${SWEEP}?split=40&${query("params.seed = 2")}`,
    act: (page) => pin(page, "train/loss"),
  },
  {
    name: "describe-key",
    part: "dialog",
    about: "Unit, direction and range of a metric, for all users of a namespace",
    path: `${SWEEP}?split=40`,
    async act(page) {
      await chartOf(page, "train/loss").waitFor();
      await page.getByRole("button", { name: "More about train/loss" }).click();
      await page.getByRole("menuitem", { name: "Describe …" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "charts-heat",
    about: "The same ranks as a heat map: the straggler",
    path: (id) => `/r/${id("distributed")}?tab=charts&labels=heat`,
    act: (page) => chartOf(page, "perf/step_seconds").waitFor(),
  },
  {
    name: "charts-spike",
    about: "One damaged batch among 100,000 points",
    path: (id) => `/r/${id("spike")}?tab=charts`,
    act: (page) => chartOf(page, "train/loss").waitFor(),
  },
];

const RUN: readonly Scene[] = [
  {
    name: "run-overview",
    about: "One run: status, params, tags and metrics",
    path: (id) => `/r/${id("finetune-960")}`,
    act: (page) => tab(page, "Overview"),
  },
  {
    name: "run-charts",
    about: "Its charts",
    path: (id) => `/r/${id("restarted")}?tab=charts`,
    act: (page) => chartOf(page, "train/loss").waitFor(),
  },
  {
    name: "run-artifacts",
    about: "Its files, with previews by kind",
    path: (id) => `/r/${id("unet-wide")}?tab=artifacts&artifact=samples/masks.png&step=299`,
    act: (page) => tab(page, "Artifacts"),
  },
  {
    name: "run-media",
    about: "Media of all steps with one stepper",
    path: (id) => `/r/${id("unet-wide")}?tab=media`,
    act: (page) => tab(page, "Media"),
  },
  {
    name: "run-logs",
    about: "Its log: live, searched, from every rank",
    path: (id) => `/r/${id("restarted")}?tab=logs&find=Error`,
    act: (page) => tab(page, "Logs"),
  },
  {
    name: "run-system",
    about: "System metrics of its machines: one GPU is too hot",
    path: (id) => `/r/${id("distributed")}?tab=system`,
    act: (page) => tab(page, "System"),
  },
  {
    name: "run-provenance",
    about: "What is recorded, what is missing, and how to reproduce the run",
    path: (id) => `/r/${id("sweep-50")}?tab=provenance`,
    act: (page) => tab(page, "Provenance"),
  },
  {
    name: "run-provenance-edit",
    about: "Saying by hand what data, study and logs belong to a run",
    path: (id) => `/r/${id("sweep-50")}?tab=provenance`,
    async act(page) {
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await page.getByRole("textbox", { name: "Study" }).waitFor();
    },
  },
  {
    name: "run-lineage",
    about: "Its sources and descendants",
    path: (id) => `/r/${id("finetune-960")}?tab=lineage`,
    act: (page) => tab(page, "Lineage"),
  },
  {
    name: "run-pipeline",
    about: "Its provenance pipeline: sources, data, code, command, results and children in order",
    path: (id) => `/r/${id("finetune-960")}?pipeline=true`,
    act: (page) => page.getByRole("dialog", { name: "Provenance pipeline" }).waitFor(),
  },
];

const compared = (id: (key: string) => string) =>
  `/compare?runs=${["sweep-50", "sweep-11", "sweep-23"].map(id).join(",")}`;

const OTHERS: readonly Scene[] = [
  {
    name: "compare",
    about: "Runs side by side: differences first",
    path: compared,
    act: (page) => page.getByRole("table").first().waitFor(),
  },
  {
    name: "compare-charts",
    about: "Their charts on top of each other",
    path: (id) => `${compared(id)}&tab=charts`,
    act: (page) => chartOf(page, "train/loss").waitFor(),
  },
  {
    name: "compare-media",
    about: "Their media at the same step",
    path: (id) => `/compare?tab=media&runs=${["unet-base", "unet-augmented", "unet-wide"].map(id).join(",")}`,
    act: (page) => tab(page, "Media"),
  },
  {
    name: "about",
    about: "The server: health, contents, checks and backups",
    path: "/about",
    act: (page) => page.getByRole("heading").nth(2).waitFor(),
  },
  {
    name: "not-found",
    about: "A namespace that does not exist, or that the user may not read",
    path: "/n/demo/nowhere",
    act: (page) => page.getByText(/Unknown namespace/).waitFor(),
  },
  {
    name: "no-such-run",
    about: "A run that does not exist, or that the user may not read",
    path: "/r/0",
    act: (page) => page.getByText(/Run not found/).waitFor(),
  },
  {
    name: "offline",
    about: "The server is unreachable: the page keeps its data and shows their age",
    stage: "leaving",
    path: SWEEP,
    async act(page, { stop }) {
      await chartOf(page, "train/loss").waitFor();
      await page.getByRole("banner").getByText("live", { exact: true }).waitFor();
      await stop();
      await page.getByText("Connection to the server lost").waitFor();
    },
  },
];

const EXPLORE = (
  [
    [
      "explore",
      "Params and results of many runs as lines through parallel axes; a brush on an axis filters",
      "parallel",
    ],
    ["explore-scatter", "A scatter plot with the Pareto frontier", "scatter"],
    ["explore-importance", "Importance of params for the objective", "importance"],
    ["explore-facets", "A grid over any two properties that vary", "facets"],
  ] as const
).map(([name, about, shown]): Scene => ({
  name,
  about,
  path: `/explore/demo/speech/sweep?tab=${shown}`,
  act: (page) => page.getByRole("tab", { selected: true }).waitFor(),
}));

/** Scenes by what they are about. */
export const chapters: Readonly<Record<string, readonly Scene[]>> = {
  home: HOME,
  runs: RUNS,
  charts: CHARTS,
  explore: EXPLORE,
  run: RUN,
  access: ACCESS,
  others: OTHERS,
};

export const scenes: readonly Scene[] = Object.values(chapters).flat();
