import type { Command } from "commander";
import type { Cli } from "./cli.ts";

/** Adds arguments, options, examples and the action to a command that has its name already. */
export type AddCommand = (command: Command, cli: Cli) => void;

export interface CommandRow {
  name: string;
  /** One line, for `cairn --help`. */
  summary: string;
  /** The file is loaded only when the command is used. */
  load(): Promise<{ default: AddCommand }>;
}

export interface CommandGroup {
  title: string;
  rows: readonly CommandRow[];
}

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandGroup[] = [
  {
    title: "Look",
    rows: [
      { name: "ls", summary: "runs that match a query, as a table", load: () => import("./commands/ls.ts") },
      {
        name: "show",
        summary: "one run: status, params, metrics, artifacts, where it came from",
        load: () => import("./commands/show.ts"),
      },
      {
        name: "plot",
        summary: "a chart of metrics in the terminal",
        load: () => import("./commands/plot.ts"),
      },
      {
        name: "top",
        summary: "running runs, live, with sparklines",
        load: () => import("./commands/top.ts"),
      },
      {
        name: "logs",
        summary: "log lines of a run; -f follows them",
        load: () => import("./commands/logs.ts"),
      },
      {
        name: "ns",
        summary: "the tree of namespaces; their objective, tags and trash",
        load: () => import("./commands/ns.ts"),
      },
      {
        name: "keys",
        summary: "what metrics mean: unit, direction, range, picture",
        load: () => import("./commands/keys.ts"),
      },
    ],
  },
  {
    title: "Record",
    rows: [
      {
        name: "log",
        summary: "write metrics, params, tags or lines from a shell script",
        load: () => import("./commands/log.ts"),
      },
      {
        name: "artifacts",
        summary: "list, get, put and restore files of a run",
        load: () => import("./commands/artifacts.ts"),
      },
      {
        name: "sync",
        summary: "deliver what training jobs left in the spool",
        load: () => import("./commands/sync.ts"),
      },
      {
        name: "import",
        summary: "import runs that other tools recorded",
        load: () => import("./commands/import.ts"),
      },
      {
        name: "demo",
        summary: "fill a server with realistic example runs",
        load: () => import("./commands/demo.ts"),
      },
    ],
  },
  {
    title: "Compare and trace",
    rows: [
      { name: "diff", summary: "what differs between runs", load: () => import("./commands/diff.ts") },
      {
        name: "explore",
        summary: "over many runs: their keys, which params matter, which runs are the best",
        load: () => import("./commands/explore.ts"),
      },
      {
        name: "lineage",
        summary: "where a run came from and what was made of it",
        load: () => import("./commands/lineage.ts"),
      },
      {
        name: "tracker",
        summary: "the tracker commands of TorchX",
        load: () => import("./commands/tracker.ts"),
      },
    ],
  },
  {
    title: "Keep",
    rows: [
      {
        name: "rm",
        summary: "move runs to the trash, or destroy what is there",
        load: () => import("./commands/rm.ts"),
      },
      { name: "mv", summary: "move runs to another namespace", load: () => import("./commands/mv.ts") },
      { name: "restore", summary: "take runs out of the trash", load: () => import("./commands/restore.ts") },
      {
        name: "verify",
        summary: "prove that everything a run wrote has arrived",
        load: () => import("./commands/verify.ts"),
      },
      {
        name: "backup",
        summary: "write a consistent copy while the server is running",
        load: () => import("./commands/backup/backup.ts"),
      },
      {
        name: "restore-backup",
        summary: "replace what the server holds with a backup",
        load: () => import("./commands/backup/restore-backup.ts"),
      },
    ],
  },
  {
    title: "Servers and people",
    rows: [
      { name: "serve", summary: "start a server", load: () => import("./commands/serve.ts") },
      { name: "login", summary: "remember a server and a token", load: () => import("./commands/login.ts") },
      {
        name: "whoami",
        summary: "who you are logged in as, and what you may do",
        load: () => import("./commands/whoami.ts"),
      },
      {
        name: "password",
        summary: "change your own password",
        load: () => import("./commands/password.ts"),
      },
      { name: "token", summary: "make, list and revoke tokens", load: () => import("./commands/token.ts") },
      {
        name: "access",
        summary: "users, groups, roles and closed namespaces",
        load: () => import("./commands/access.ts"),
      },
      {
        name: "doctor",
        summary: "find problems of this installation, and how to fix them",
        load: () => import("./commands/doctor.ts"),
      },
      {
        name: "completion",
        summary: "completion for bash, zsh and fish",
        load: () => import("./commands/completion.ts"),
      },
      {
        name: "version",
        summary: "versions of this program and of the server",
        load: () => import("./commands/version.ts"),
      },
    ],
  },
];
