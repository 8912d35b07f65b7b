import { RULES, wordsIn } from "./secret-rules.ts";

const { names, dataNames, dataEndings, folders } = RULES.files;
const ENDINGS = wordsIn(dataEndings);
/**
 * Files that exist to hold secrets, as globs over the last part of a path in lower case, with `*` alone. They go into
 * neither an archive nor a patch.
 */
const SECRET_FILES: readonly string[] = [
  ...wordsIn(names),
  ...wordsIn(dataNames).flatMap((name) => ENDINGS.map((ending) => `${name}.${ending}`)),
];

/** Folders of which the same holds. */
const SECRET_FOLDERS: readonly string[] = wordsIn(folders);

const FILES = new RegExp(
  `^(?:${SECRET_FILES.map((glob) => glob.replace(/[.*]/g, (one) => (one === "." ? "\\." : "[^]*"))).join("|")})$`,
);
const FOLDERS = new Set(SECRET_FOLDERS);

/** By its name alone. */
export function isSecretFile(name: string): boolean {
  return FILES.test(name.toLowerCase());
}

export function isSecretFolder(name: string): boolean {
  return FOLDERS.has(name.toLowerCase());
}

/** What tells git to leave them out. */
export function secretPathspecs(): string[] {
  return [
    ...SECRET_FILES.map((glob) => `:(exclude,top,icase,glob)**/${glob}`),
    ...SECRET_FOLDERS.map((folder) => `:(exclude,top,icase,glob)**/${folder}/**`),
  ];
}
