export interface Snippet {
  title: string;
  /** What must be installed before. */
  needs: string;
  text: string;
}

/** First lines of code that work against the server at this address, for three clients. */
export function snippets(url: string, needsToken: boolean): Snippet[] {
  return [pythonSnippet(url, needsToken), torchxSnippet(url, needsToken), curlSnippet(url, needsToken)];
}

/** The demo, from a checkout. */
export function demoCommand(url: string, needsToken: boolean): string {
  return `${needsToken ? "CAIRN_TOKEN=TOKEN " : ""}npx cairn demo --server ${url}`;
}

function pythonSnippet(url: string, needsToken: boolean): Snippet {
  const token = needsToken ? ',\n    token="TOKEN"' : "";
  return {
    title: "Python",
    needs: "pip install ./sdk/python",
    text: `import cairn

with cairn.init(
    server="${url}"${token},
    namespace="hello/python",
    params={"lr": 1e-3},
) as run:
    for step in range(100):
        run.log({"loss": 1 / (1 + step)}, step=step)
`,
  };
}

function torchxSnippet(url: string, needsToken: boolean): Snippet {
  const command = "torchx run -s local_cwd utils.python --script hello.py";
  return {
    title: "TorchX",
    needs: "pip install ./sdk/python torchx",
    text: `cat > .torchxconfig <<'END'
[torchx:tracker]
cairn=

[tracker:cairn]
config=${url}/hello/torchx
END
cat > hello.py <<'END'
from torchx.tracker import app_run_from_env

app_run_from_env().add_metadata(lr=1e-3, model="tiny")
END
${needsToken ? `export CAIRN_TOKEN=TOKEN\n` : ""}${command}
`,
  };
}

function curlSnippet(url: string, needsToken: boolean): Snippet {
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
