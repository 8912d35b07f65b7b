import type { Command } from "commander";
import type { Cli } from "./cli.ts";

/** Adds arguments, options, examples and the action to a command that has its name already. */
export type AddCommand = (command: Command, cli: Cli) => void;

export interface CommandRow {
  name: string;
  /** One line, for `cairn --help`. */
  summary: string;
  /** Its file is loaded only when the command is used. */
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
    rows: [],
  },
  {
    title: "Record",
    rows: [],
  },
  {
    title: "Compare and trace",
    rows: [],
  },
  {
    title: "Servers and people",
    rows: [
      {
        name: "whoami",
        summary: "who the server takes you for, and what you may do",
        load: () => import("./commands/whoami.ts"),
      },
    ],
  },
];
