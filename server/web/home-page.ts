/** The page of a server without web pages: its status, and how to call the API. */
export function homePage(facts: {
  version: string;
  url: string;
  needsToken: boolean;
  nonce: string;
}): string {
  const { version, url, needsToken, nonce } = facts;
  const credential = needsToken ? " \\\n  -H 'authorization: Bearer TOKEN'" : "";
  const call = (method: string, body: string) =>
    `curl -s ${url}/cairn.v1.${method} \\\n  -H 'content-type: application/json'${credential} \\\n  -d '${body}'`;
  const create = call(
    "RunService/CreateRun",
    '{"namespace": "demo", "name": "hello", "aliases": ["hello-1"],\n       "params": {"lr": "0.001"}, "getOrCreate": true}',
  );
  const log = call(
    "MetricService/WriteEnvelope",
    '{"run": {"alias": "hello-1"},\n       "series": [{"key": "loss", "steps": [1, 2, 3], "values": [0.9, 0.5, 0.4]}]}',
  );
  const search = call(
    "RunService/SearchRuns",
    '{"query": "metrics.loss.min < 0.5 and params.lr <= 1e-3",\n       "columns": ["params", "metrics.loss.min"]}',
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Cairn</title>
<style nonce="${nonce}">
  :root { color-scheme: light dark; font: 15px/1.55 system-ui, sans-serif; }
  body { max-width: 48rem; margin: 3rem auto; padding: 0 1.25rem; }
  h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
  h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
  p { margin: .25rem 0; }
  .dim { opacity: .7; }
  pre { padding: .8rem 1rem; border-radius: 6px; overflow-x: auto; font: 13px/1.5 ui-monospace, monospace;
        background: color-mix(in srgb, currentColor 7%, transparent); }
  code { font: 13px ui-monospace, monospace; }
</style>
<h1>Cairn is running</h1>
<p class="dim">Version ${escape(version)} at ${escape(url)}. gRPC, gRPC-Web, Connect and JSON share this port.</p>
<h2>Create a run</h2>
<pre>${escape(create)}</pre>
<h2>Log three points</h2>
<pre>${escape(log)}</pre>
<h2>Find it again</h2>
<pre>${escape(search)}</pre>
<p class="dim">Health: <code>/healthz</code>, <code>/readyz</code>. Prometheus: <code>/metrics</code>. With grpcurl:
<code>grpcurl ${url.startsWith("https") ? "" : "-plaintext "}${escape(new URL(url).host)} list</code></p>
</html>
`;
}

function escape(text: string): string {
  const entities: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}
