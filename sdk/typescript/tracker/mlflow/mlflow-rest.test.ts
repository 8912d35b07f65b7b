import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { MLflowRest, type MLflowRestOptions } from "./mlflow-rest.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server that answers with `handler`, and counts. */
async function serve(
  answer: (request: IncomingMessage, response: ServerResponse, attempt: number) => void,
  options: MLflowRestOptions = {},
): Promise<{ rest: MLflowRest; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  server = createServer((request, response) => {
    seen.push(request);
    answer(request, response, seen.length);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const rest = new MLflowRest(`http://127.0.0.1:${port}/base/`, { env: {}, ...options });
  return { rest, seen };
}

describe("calls to MLflow", () => {
  it("X33 are repeated while that may help", async () => {
    const { rest, seen } = await serve((request, response, attempt) => {
      if (attempt === 1) request.socket.destroy();
      else response.writeHead(attempt === 2 ? 503 : 200).end('{"ok": true}');
    });
    expect(await rest.call("runs/update", {})).toEqual({ ok: true });
    expect(seen.map(({ url }) => url)).toEqual(
      Array.from({ length: 3 }, () => "/base/api/2.0/mlflow/runs/update"),
    );
  });

  it("X33 are not repeated where it cannot help, or where it would do something twice", async () => {
    const { rest, seen } = await serve((request, response) => {
      const status = request.url!.includes("create") ? 503 : 400;
      response
        .writeHead(status)
        .end('{"error_code": "INVALID_PARAMETER_VALUE", "message": "no\\n[SQL: select]"}');
    });
    await expect(rest.call("runs/log-batch", {})).rejects.toMatchObject({
      message: 'MLflow refuses "runs/log-batch" with 400 INVALID_PARAMETER_VALUE: no',
      reason: "INVALID_PARAMETER_VALUE",
      status: 400,
    });
    await expect(rest.call("runs/create", {}, { repeatable: false })).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(2);
  });

  it("X33 end in time when no answer comes", async () => {
    const { rest, seen } = await serve(() => {}, { requestMs: 150, attemptsMs: 600 });
    const started = performance.now();
    await expect(rest.call("runs/get", {}, { method: "GET" })).rejects.toThrow(
      "cannot reach MLflow at http://127.0.0.1:",
    );
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(seen.length).toBeGreaterThan(1);
  });

  it("X33 say how to start a server when none answers", async () => {
    const rest = new MLflowRest("http://127.0.0.1:1", { env: {}, attemptsMs: 200 });
    await expect(rest.call("runs/get", {})).rejects.toThrow("start one with `mlflow server`");
  });

  it("X33 go through all pages, and stop where a server returns the same page forever", async () => {
    const { rest } = await serve((_request, response, attempt) => {
      response.end(
        JSON.stringify({ runs: [attempt], next_page_token: attempt < 3 ? `page-${attempt}` : "page-2" }),
      );
    });
    const runs: number[] = [];
    for await (const run of rest.pages<number>("runs/search", {}, "runs")) runs.push(run);
    expect(runs).toEqual([1, 2, 3]);
  });

  it("X33 carry the credentials of the Python client, and follow no redirect with them", async () => {
    const header = async (env: Record<string, string>) => {
      const { rest, seen } = await serve((_request, response) => void response.end("{}"), { env });
      await rest.call("x", {});
      server!.close();
      return seen[0]!.headers.authorization;
    };
    expect(await header({})).toBeUndefined();
    expect(await header({ MLFLOW_TRACKING_TOKEN: "t" })).toBe("Bearer t");
    expect(
      await header({
        MLFLOW_TRACKING_USERNAME: "u",
        MLFLOW_TRACKING_PASSWORD: "p",
        MLFLOW_TRACKING_TOKEN: "t",
      }),
    ).toBe(`Basic ${btoa("u:p")}`);
    const { rest } = await serve(
      (_request, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      { attemptsMs: 200 },
    );
    await expect(rest.call("x", {})).rejects.toThrow("cannot reach MLflow");
  });

  it("X33 refuse an invalid answer", async () => {
    const { rest } = await serve(
      (_request, response, attempt) => void response.writeHead(attempt === 1 ? 200 : 404).end("<html>"),
    );
    await expect(rest.call("x", {})).rejects.toThrow("its answer is not JSON");
    await expect(rest.call("x", {})).rejects.toMatchObject({ reason: "ENDPOINT_NOT_FOUND" });
  });
});
