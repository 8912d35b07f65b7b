import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

export interface CountingProxy {
  url: string;
  /** Transferred bytes of scripts and styles, by path, since the last `reset`. */
  assets: Map<string, number>;
  /** Pending requests. */
  waiting(): number;
  close(): void;
}

/** A counting proxy, because a browser's tools leave out the requests of workers. */
export async function startCountingProxy(port: number): Promise<CountingProxy> {
  const assets = new Map<string, number>();
  let waiting = 0;
  const proxy = createServer((asked, answer) => {
    const isAsset = /\.(?:js|css)$/.test(asked.url ?? "");
    if (isAsset) waiting++;
    const passed = request(
      { port, host: "127.0.0.1", method: asked.method, path: asked.url, headers: asked.headers },
      (response) => {
        answer.writeHead(response.statusCode!, response.headers);
        if (isAsset) {
          let bytes = 0;
          response.on("data", (chunk: Buffer) => (bytes += chunk.length));
          response.on("close", () => {
            waiting--;
            assets.set(asked.url!, (assets.get(asked.url!) ?? 0) + bytes);
          });
        }
        response.pipe(answer);
      },
    );
    passed.on("error", () => answer.destroy());
    answer.on("close", () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    assets,
    waiting: () => waiting,
    close: () => {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}
