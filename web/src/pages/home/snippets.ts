import { shellWord } from "#lang/words/shell-line.ts";

export interface Snippet {
  title: string;
  /** What must be run once before: commands for a shell. */
  needs: string;
  text: string;
}

/** The server that shows the snippets. */
export interface Here {
  url: string;
  /** Of the server, and so of the package that it offers for download. */
  version: string;
  needsToken: boolean;
}

const NODE_PACKAGE = "npm install cairn-sdk";

/** First lines of code that work against this server, from any folder, for four clients. */
export function snippets(here: Here): Snippet[] {
  return [pythonSnippet(here), torchxSnippet(here), nodeSnippet(here), curlSnippet(here)];
}

/** Where this server offers its Python package, without a credential. */
export function wheelUrl({ url, version }: Here): string {
  return `${url}/install/cairn_tracker-${version}-py3-none-any.whl`;
}

/** The demo, with the command line installed. */
export function demoCommand(here: Here): string {
  return `${here.needsToken ? logIn(here) : ""}cairn demo --server ${here.url}`;
}

function logIn({ url }: Here): string {
  return `cairn login ${url}\n`;
}

function install(here: Here, ...others: string[]): string {
  return ["pip install", shellWord(wheelUrl(here)), ...others].join(" ");
}

/** After it the client finds the token by itself. */
function once(here: Here, command: string): string {
  return here.needsToken ? `${command}\n${logIn(here).trimEnd()}` : command;
}

function pythonSnippet(here: Here): Snippet {
  return {
    title: "Python",
    needs: once(here, install(here)),
    text: `import cairn

with cairn.init(
    server="${here.url}",
    namespace="hello/python",
    params={"lr": 1e-3},
) as run:
    for step in range(100):
        run.log({"loss": 1 / (1 + step)}, step=step)
`,
  };
}

function torchxSnippet(here: Here): Snippet {
  return {
    title: "TorchX",
    needs: once(here, install(here, "torchx")),
    text: `cat > .torchxconfig <<'END'
[torchx:tracker]
cairn=

[tracker:cairn]
config=${here.url}/hello/torchx
END
cat > hello.py <<'END'
from torchx.tracker import app_run_from_env

app_run_from_env().add_metadata(lr=1e-3, model="tiny")
END
torchx run -s local_cwd utils.python --script hello.py
`,
  };
}

function nodeSnippet(here: Here): Snippet {
  return {
    title: "Node",
    // The package has no command to sign in with.
    needs: here.needsToken ? `${NODE_PACKAGE}\nexport CAIRN_TOKEN=TOKEN` : NODE_PACKAGE,
    text: `import { init } from "cairn-sdk";

const run = await init({
  server: "${here.url}",
  namespace: "hello/node",
  params: { lr: 0.001 },
});
for (let step = 0; step < 100; step++) run.log({ loss: 1 / (1 + step) }, { step });
await run.finish();
`,
  };
}

function curlSnippet({ url, needsToken }: Here): Snippet {
  const token = needsToken ? " \\\n  -H 'authorization: Bearer TOKEN'" : "";
  const call = (method: string, body: string) =>
    `curl -s ${url}/cairn.v1.${method} \\\n  -H 'content-type: application/json'${token} \\\n  -d '${body}'\n`;
  return {
    title: "curl",
    needs: "",
    text:
      call(
        "RunService/CreateRun",
        '{"namespace": "hello/curl", "name": "first", "aliases": ["hello-1"], "params": {"lr": "0.001"}, "getOrCreate": true}',
      ) +
      call(
        "MetricService/WriteEnvelope",
        '{"run": {"alias": "hello-1"}, "series": [{"key": "loss", "steps": [1, 2, 3], "values": [0.9, 0.5, 0.4]}]}',
      ),
  };
}
