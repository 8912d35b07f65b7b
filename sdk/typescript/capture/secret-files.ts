/** Endings of files that hold data; code is named `secrets.py` as well. */
const DATA_ENDINGS = [
  "json",
  "yml",
  "yaml",
  "toml",
  "ini",
  "cfg",
  "conf",
  "txt",
  "env",
  "properties",
  "csv",
  "xml",
];

/**
 * Files that exist to hold secrets, as globs over the last part of a path in lower case, with `*` alone. They go into
 * neither an archive nor a patch.
 */
const SECRET_FILES: readonly string[] = [
  ...`.env* *.env .envrc .netrc _netrc .npmrc .yarnrc .pypirc .htpasswd .git-credentials .dockercfg .pgpass .my.cnf
      .vault-token .boto .s3cfg *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk *.p8 id_rsa* id_dsa* id_ecdsa*
      id_ed25519* credentials secret secrets token *.token kubeconfig *.kubeconfig *.tfstate *.tfstate.* *.tfvars
      service-account*.json service_account*.json client_secret*.json kaggle.json`.split(/\s+/),
  ...["*credentials", "secret", "secrets", "token"].flatMap((name) =>
    DATA_ENDINGS.map((ending) => `${name}.${ending}`),
  ),
];

/** Folders of which the same holds. */
const SECRET_FOLDERS: readonly string[] = [".ssh", ".aws", ".gnupg", ".gcloud", ".azure", ".kube", ".docker"];

const FILES = new RegExp(
  `^(?:${SECRET_FILES.map((glob) => glob.replace(/[.*]/g, (one) => (one === "." ? "\\." : ".*"))).join("|")})$`,
  "s",
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
