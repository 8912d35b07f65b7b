import { CairnError, quote } from "#lang/errors.ts";
import { matchesTag } from "#wire/artifacts/byte-range.ts";
import { sendBytes, setSecurityHeaders } from "#wire/kit/respond.ts";
import type { Call, Route } from "#wire/kit/router.ts";
import type { InstallFiles } from "./install-files.ts";

const FOLDER = "install";

/**
 * Packages of clients: the list, which `pip install --find-links` reads, and each file. Public, because they are what a
 * machine without Cairn begins with, and the same on every server of a version.
 */
export function installRoutes(files: InstallFiles): Route[] {
  return [
    {
      method: "GET",
      path: `/${FOLDER}`,
      isFolder: true,
      permission: "public",
      handler: (call) => sendList(files, call),
    },
    {
      method: "GET",
      path: `/${FOLDER}/:file`,
      permission: "public",
      handler: (call) => sendFile(files, call),
    },
  ];
}

/** Links are relative, so that they also hold behind a proxy that puts something before the path. */
function sendList(files: InstallFiles, { request, response }: Call): void {
  const folder = /^[^?]*\/(?:\?|$)/.test(request.url ?? "") ? "" : `${FOLDER}/`;
  const found = files.list();
  if (found.length === 0) throw missing(undefined);
  // Names are made of letters, digits and a few signs.
  const links = found.map(
    ({ name, sha256 }) => `<li><a href="${folder}${name}#sha256=${sha256}">${name}</a></li>\n`,
  );
  const page = `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Cairn: packages</title>\n<ul>\n${links.join("")}</ul>\n</html>\n`;
  response.setHeader("cache-control", "no-cache");
  sendBytes(response, 200, "text/html; charset=utf-8", Buffer.from(page));
}

function sendFile(files: InstallFiles, { request, response, params }: Call): void {
  const name = params.get("file")!;
  const found = files.file(name);
  if (found === undefined) throw missing(name);
  const tag = `"${found.sha256}"`;
  response.setHeader("etag", tag);
  response.setHeader("cache-control", "no-cache");
  response.setHeader("content-disposition", `attachment; filename="${name}"`);
  if (matchesTag(request.headers["if-none-match"], tag)) {
    setSecurityHeaders(response);
    response.statusCode = 304;
    response.end();
    return;
  }
  sendBytes(response, 200, "application/octet-stream", found.bytes);
}

function missing(name: string | undefined): CairnError {
  const what = name === undefined ? "packages to install" : `package ${quote(name)}`;
  return new CairnError("not-found", `cannot find ${what}: this server does not have it`, {
    hint: "GET /install lists what it has; a server from a checkout builds it when it starts with `npm start`",
  });
}
