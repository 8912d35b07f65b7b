/** A keyboard shortcut, for the sheet that `?` opens. */
interface Shortcut {
  /** As it is written on the keys: "Ctrl K", "g then h". */
  keys: string;
  does: string;
}

interface ShortcutGroup {
  title: string;
  shortcuts: readonly Shortcut[];
}

const EVERYWHERE: ShortcutGroup = {
  title: "Everywhere",
  shortcuts: [
    { keys: "Ctrl K", does: "Search runs, namespaces, metrics and pages" },
    { keys: "g h", does: "Go home" },
    { keys: "g r", does: "Go to all runs" },
    { keys: "g e", does: "Explore the runs of the namespace" },
    { keys: "t", does: "Light or dark colours" },
    { keys: "?", does: "This sheet" },
    { keys: "Esc", does: "Close dialog or menu" },
  ],
};

/** By the beginning of the address they belong to. */
const OF_PAGES: readonly (ShortcutGroup & { path: RegExp })[] = [
  {
    path: /^\/n(?:\/|$)/,
    title: "In the table of runs",
    shortcuts: [
      { keys: "/", does: "Write a query" },
      { keys: "j k", does: "Next and previous run, also by arrows" },
      { keys: "Space", does: "Select the run" },
      { keys: "e", does: "Show or hide the run in charts" },
      { keys: "x", does: "Compare the selected runs" },
      { keys: "Enter", does: "Open the run" },
      { keys: "Home End", does: "First and last run" },
      { keys: "Ctrl Z", does: "Undo the last change of columns, order, groups or charts" },
    ],
  },
  {
    path: /^\/(?:n|r|compare)(?:\/|$)/,
    title: "In a chart",
    shortcuts: [
      { keys: "← →", does: "Move the crosshair" },
      { keys: "Enter", does: "Pin or unpin the values" },
      { keys: "+ -", does: "Zoom in and out, also by wheel with Ctrl" },
      { keys: "[ ]", does: "Move left and right, also by drag or wheel with Shift" },
      { keys: "0", does: "Show everything, also by double click" },
    ],
  },
  {
    path: /^\/explore(?:\/|$)/,
    title: "In the parallel coordinates",
    shortcuts: [
      { keys: "/", does: "Write a query" },
      { keys: "Shift ← →", does: "Move the axis whose name has the focus" },
    ],
  },
  {
    path: /^\/r\//,
    title: "In the media of a run",
    shortcuts: [{ keys: "← →", does: "Previous and next step" }],
  },
];

/** The shortcuts of the page with this address. */
export function shortcutGroups(pathname: string): ShortcutGroup[] {
  return [...OF_PAGES.filter(({ path }) => path.test(pathname)), EVERYWHERE];
}
