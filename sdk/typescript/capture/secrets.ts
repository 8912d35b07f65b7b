/**
 * What must not be recorded: passwords, tokens and keys. They are known by the name they are given under
 * (`--api-key x`, `DB_PASSWORD=x`) and by their look (`ghp_…`, a JWT, a password in a URL). In doubt a value is
 * struck out: a run that cannot be repeated to the letter is a smaller harm than a stolen credential.
 */

export const REDACTED = "[redacted]";

/** Any of these words in a name makes it the name of a secret. */
const SECRET_WORDS = new Set(
  `secret secrets password passwords passwd passphrase credential credentials auth authorization authentication bearer
   cookie cookies apikey apikeys accesskey secretkey privatekey authtoken accesstoken refreshtoken sessionid jwt dsn
   webhook otp netrc`.split(/\s+/),
);

/** These only at the end: there are also `--pass-rate`, `--private-epsilon` and `--signature-dim`. */
const LAST_WORDS = new Set(`pass pw cred creds private signature sig`.split(" "));
/** What a training step does, and not the way past a guard. */
const PASS_BEFORE = new Set(`forward backward single first second last per`.split(" "));

/** With one of these before it, `key` is the key to something, and not one of a dictionary. */
const KEY_WORDS = new Set(
  `api access secret private ssh encryption encrypt signing account license licence client master deploy service
   storage shared auth hmac aes rsa gpg pgp app application wandb comet neptune openai anthropic azure aws gcp s3`.split(
    /\s+/,
  ),
);

/** Language models count and name tokens all day long; these are not secret. */
const TOKEN_BEFORE = new Set(
  `pad eos bos unk sep cls mask special start end stop prefix suffix image audio video num n max min total per
   new input output context prompt completion train eval batch tokens by first last every extra visual soft sos`.split(
    /\s+/,
  ),
);
const TOKEN_AFTER = new Set(
  `id ids index dim dims size len length count counts limit type types embedding embeddings embed drop dropout level
   budget classification merging pruning mixer rate frequency per`.split(/\s+/),
);

/** Credentials with a look of their own. All of them stop at what no token contains. */
const SECRET_LOOKS: readonly RegExp[] = [
  /\bcairn_[\w-]{40,}/g,
  /\bgh[opusr]_[A-Za-z0-9]{16,}/g,
  /\bgithub_pat_\w{16,}/g,
  /\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|agent)-[\w.-]{16,}/g,
  /\bglsa_\w{16,}/g,
  /\b(?:sk|pk|rk)-(?=[\w-]*\d)[\w-]{20,}/g,
  /\b(?:sk|pk|rk)_(?:live|test)_\w{10,}/g,
  /\b(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{12,}/g,
  /\bAIza[\w-]{30,}/g,
  /\bya29\.[\w-]{16,}/g,
  /\bxox[a-z]-[\w-]{10,}/g,
  /\bxapp-[\w-]{10,}/g,
  /\bhf_[A-Za-z0-9]{30,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\bpypi-AgE[\w-]{16,}/g,
  /\bdop_v1_[0-9a-f]{16,}/g,
  /\bdapi[0-9a-f]{16,}/g,
  /\bnvapi-[\w-]{16,}/g,
  /\b(?:gsk|r8|fw|tgp_v1)_[A-Za-z0-9]{20,}/g,
  /\bxai-[A-Za-z0-9]{20,}/g,
  /\bSG\.[\w-]{10,}\.[\w-]{10,}/g,
  /\bhv[sbr]\.[\w-]{16,}/g,
  /\bAGE-SECRET-KEY-1[A-Z0-9]{16,}/g,
  /\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*/g,
  /(?<=https:\/\/hooks\.slack\.com\/(?:services|workflows)\/)[\w/]+/g,
  /(?<=\b(?:Bearer|Basic|Negotiate)[ \t]{1,4})[\w.~+/=-]{6,}/gi,
];

/**
 * The user part of a URL. A password should have its slashes escaped; where one has not, the port of a host must not be
 * taken for it.
 */
const URL_LOOK =
  /\b([a-z][a-z0-9+.-]{0,30}:\/\/)([^\s/?#@:"'<>]{0,256}:(?!\d{1,5}\/)[^\s@"'<>]{0,1024}@|[^\s/?#@"'<>]{0,1024}@)/gi;
/** A name and what stands before its value: `a.token=`, `"api_key": `, `Password: `. */
const NAME = /(?<![\w.-])(["']?)([A-Za-z_][\w.-]{0,127})\1[ \t]{0,4}(?:=>?|:(?!\/\/))[ \t]{0,4}/g;
const VALUE = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s"',;&)}\]]+/y;
const LINE = /[^\n,}\]]+/y;
const PEM =
  /-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY( BLOCK)?-----|$)/g;

/** Without one of these no name is that of a secret; it saves the closer look, which costs more. */
const STEMS =
  /token|secret|pass|pw|cred|auth|bearer|cookie|key|private|sig|session|jwt|dsn|webhook|otp|netrc/i;

/** Whether what goes by this name (of an option, a variable, a field) is a secret. */
export function isSecretName(name: string): boolean {
  if (!STEMS.test(name)) return false;
  const words = wordsOf(name);
  return words.some((word, at) => {
    const before = words[at - 1] ?? "";
    if (word === "key" || word === "keys") return KEY_WORDS.has(before);
    if (word === "token" || word === "tokens")
      return !TOKEN_BEFORE.has(before) && !TOKEN_AFTER.has(words[at + 1] ?? "");
    // PWD alone is the working directory.
    if (word === "pwd") return words.length > 1 || name !== name.toUpperCase();
    if (LAST_WORDS.has(word)) return at === words.length - 1 && !PASS_BEFORE.has(before);
    return SECRET_WORDS.has(word);
  });
}

/** `--hubAPIKey` has the words hub, api, key. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

/** Without user, password, and secrets among the parameters. What is no URL comes back as `redactText` leaves it. */
export function redactUrl(url: string): string {
  return redactText(url);
}

/** Text with every secret that can be recognised struck out. */
export function redactText(text: string): string {
  return redactLooks(redactPairs(text.replace(URL_LOOK, withoutUser), isSecretName));
}

/** Only what looks like a credential wherever it stands: for text in which names mean nothing, such as code. */
export function redactLooks(text: string): string {
  let clean = text.replace(PEM, REDACTED).replace(URL_LOOK, withoutUser);
  for (const look of SECRET_LOOKS) clean = clean.replace(look, REDACTED);
  return clean;
}

/** A plain user name such as `git@` names an account, not a way in; it stays only where a path of git needs it. */
function withoutUser(_whole: string, scheme: string, user: string): string {
  return scheme + (user === "git@" && /^(?:git\+)?ssh:/i.test(scheme) ? user : "");
}

/** With the values of all names that are secret struck out. */
export function redactPairs(text: string, isSecret: (name: string, value: string) => boolean): string {
  let clean = "";
  let at = 0;
  for (const match of text.matchAll(NAME)) {
    const end = match.index + match[0].length;
    // What stands in a value that was struck out is gone.
    if (match.index < at || !STEMS.test(match[2]!)) continue;
    const value = valueAt(text, end, /:\s+$/.test(match[0]));
    if (value === "" || !isSecret(match[2]!, value)) continue;
    const mark = /^["']/.exec(value)?.[0] ?? "";
    const isClosed = value.length > 1 && value.endsWith(mark);
    clean += text.slice(at, end) + mark + REDACTED + (isClosed ? mark : "");
    at = end + value.length;
  }
  return clean + text.slice(at);
}

/** A quoted text, a bracket with all that is in it, or a word; after `name: ` the rest of the line. */
function valueAt(text: string, start: number, isLine: boolean): string {
  const first = text[start];
  if (first === "{" || first === "[") return text.slice(start, bracketEnd(text, start));
  const form = isLine && first !== '"' && first !== "'" ? LINE : VALUE;
  form.lastIndex = start;
  return form.exec(text)?.[0] ?? "";
}

function bracketEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "{" || text[at] === "[") depth++;
    else if ((text[at] === "}" || text[at] === "]") && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Programs whose short options take a password, and the letters of those. */
const SHORT_SECRETS: Readonly<Record<string, string>> = {
  sshpass: "p",
  mysql: "p",
  mysqldump: "p",
  mariadb: "p",
  mongo: "p",
  mongosh: "p",
  mongodump: "p",
  docker: "p",
  podman: "p",
  "redis-cli": "a",
  curl: "uUbH",
  wget: "H",
  ldapsearch: "w",
  smbclient: "U",
  openssl: "k",
};

/** A command line without its secrets; the number of words stays. */
export function redactArgs(argv: readonly string[]): string[] {
  const clean: string[] = [];
  let letters = "";
  let nextIsSecret = false;
  for (const argument of argv) {
    if (nextIsSecret && !isOption(argument)) {
      clean.push(REDACTED);
      nextIsSecret = false;
      continue;
    }
    const short = /^-([A-Za-z])(.*)$/s.exec(argument);
    if (short !== null && letters.includes(short[1]!)) {
      // `-psecret` and `-p secret`.
      nextIsSecret = short[2] === "";
      clean.push(nextIsSecret ? argument : `-${short[1]}${REDACTED}`);
      continue;
    }
    letters += SHORT_SECRETS[argument.slice(argument.lastIndexOf("/") + 1)] ?? "";
    nextIsSecret = /^--?[A-Za-z][\w.-]*$/.test(argument) && takesSecret(argument);
    clean.push(redactArgument(argument));
  }
  return clean;
}

function takesSecret(option: string): boolean {
  return !/^--?no-/.test(option) && isSecretName(option);
}

/** `--token=--x y` is one word: with a secret name everything after the first `=` is the value. */
function redactArgument(argument: string): string {
  const pair = /^([-+~]{0,2}[A-Za-z_][\w./@-]*)=(.+)$/s.exec(argument);
  if (pair !== null && isSecretName(pair[1]!)) return `${pair[1]}=${REDACTED}`;
  return redactText(argument);
}

/** What follows a secret option is its value, whatever it looks like, unless it is plainly an option itself. */
function isOption(argument: string): boolean {
  return /^--[A-Za-z][A-Za-z-]*(?:=.*)?$/s.test(argument) || /^-[A-Za-z]$/.test(argument);
}
