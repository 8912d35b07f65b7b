import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { httpClient } from "../testing/artifact-client.ts";
import { useServer } from "../testing/servers.ts";

const server = useServer();
const listener = createServer();
let connections = 0;
let port = 0;

beforeAll(async () => {
  listener.on("connection", (socket) => {
    connections++;
    socket.destroy();
  });
  listener.listen(0);
  await once(listener, "listening");
  ({ port } = listener.address() as AddressInfo);
});
afterAll(() => listener.close());

/** Ways to write the address of this machine that parsers of URLs disagree about. */
function spellings(): string[] {
  const hosts = [
    "127.0.0.1",
    "localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "0",
    "0.0.0.0",
    "①②⑦.⓪.⓪.①",
    "localhost.",
    "user:pass@127.0.0.1",
    "127.0.0.1#@example.org",
    "example.org@127.0.0.1",
  ];
  const schemes = ["http", "https", "ftp", "gopher", "ws", "s3", "gs", "git+ssh", "dict", "tcp"];
  return schemes.flatMap((scheme) => hosts.map((host) => `${scheme}://${host}:${port}/latest/meta-data`));
}

it("S4 opens no connection for any location that a user names, in any later call", async () => {
  const { url } = server().listening;
  const { runs, artifacts, lineage } = clientsOf(
    createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
  );
  const http = httpClient(url, "HTTP/1.1");
  const { run } = await runs.createRun({
    namespace: "outbound",
    name: "r",
    tags: { "git.remote": spellings()[0]! },
  });
  const id = run!.id;
  let recorded = 0;
  for (const [number, uri] of spellings().entries()) {
    const name = `model-${number}`;
    const kept = await artifacts
      .recordArtifact({ run: { id }, artifact: { name, uri } })
      .catch(() => undefined);
    if (kept === undefined) continue;
    recorded++;
    await artifacts.getArtifact({ run: { id }, name });
    expect((await http.call("GET", `/artifacts/${id}/${name}`)).status).not.toBe(200);
    await lineage.addSource({ run: { id }, source: { id: uri } });
  }
  await artifacts.listArtifacts({ run: { id } });
  await lineage.getLineage({ run: { id } });
  expect(recorded).toBeGreaterThan(100);
  expect(connections).toBe(0);
});
