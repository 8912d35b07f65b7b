import { endsAsSecret } from "./secret-names.ts";
import { RULES, setOf, wordsIn } from "./secret-rules.ts";

const { names, dataNames, dataEndings, folders, settingsEndings } = RULES.files;
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
const SETTINGS = setOf(settingsEndings);
const FOLDERS = new Set(SECRET_FOLDERS);

/** By its name alone. */
export function isSecretFile(name: string): boolean {
  const lower = name.toLowerCase();
  if (FILES.test(lower)) return true;
  const dot = lower.lastIndexOf(".");
  if (dot > 0 && !ENDINGS.includes(lower.slice(dot + 1))) return false;
  const stem = dot > 0 ? name.slice(0, dot) : name;
  // A file in capitals is not a variable.
  return endsAsSecret(/[a-z]/.test(stem) ? stem : stem.toLowerCase());
}

/** By the end of its path. */
export function isSecretFolder(path: string): boolean {
  const parts = path.toLowerCase().split("/");
  return FOLDERS.has(parts.at(-1)!) || FOLDERS.has(parts.slice(-2).join("/"));
}

/** Whether a file or a folder above it is one. */
export function isSecretPath(path: string): boolean {
  const parts = path.split("/");
  const above = parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join("/"));
  return isSecretFile(parts.at(-1)!) || above.some(isSecretFolder);
}

/** Whether the text after a name is a value, and not a variable as in code. */
export function isSettingsFile(path: string): boolean {
  return SETTINGS.has(path.slice(path.lastIndexOf(".") + 1).toLowerCase());
}

/** Pathspecs of git that exclude most of them; `redactPatch` drops the others. */
export function secretPathspecs(): string[] {
  return [
    ...SECRET_FILES.map((glob) => `:(exclude,top,icase,glob)**/${glob}`),
    ...SECRET_FOLDERS.map((folder) => `:(exclude,top,icase,glob)**/${folder}/**`),
  ];
}
