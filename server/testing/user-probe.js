/**
 * Acts as another user of this machine, as which it stays from its first line on: makes the calls it is given and
 * prints what came of them, or passes on connections until it is ended. Its one argument is JSON:
 *
 *     { "uid": 54321, "calls": [{ "url": …, "http2": false, "method": …, "headers": …, "body": … }] }
 *     { "uid": 54321, "strikes": { "port": …, "text": …, "times": 40 } }
 *     { "uid": 54321, "proxyTo": 4700 }
 *     { "uid": 54321, "abandons": { "port": …, "alpn": "h2", "first": …, "rest": … } }
 *
 * The last sends the first text, prints the port that it calls from, waits for a line, sends the rest and resets the
 * connection. Texts have a byte for each character.
 */
import { once } from "node:events";
import { request as requestHttp } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as requestHttps } from "node:https";
import { connect, createServer } from "node:net";
import { buffer } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";

const { uid, calls = [], strikes, proxyTo, abandons } = JSON.parse(process.argv[2]);
process.setgroups([]);
process.setgid(uid);
process.setuid(uid);

if (abandons !== undefined) await abandon(abandons);
else if (proxyTo === undefined) {
  const answers = [];
  for (const call of calls) answers.push(await (call.http2 ? overHttp2(call) : overHttp1(call)));
  if (strikes !== undefined) for (let i = 0; i < strikes.times; i++) await strike(strikes, i);
  process.stdout.write(JSON.stringify(answers));
} else {
  const proxy = createServer((near) => {
    const far = connect(proxyTo, "127.0.0.1");
    for (const socket of [near, far]) socket.on("error", () => near.destroy() && far.destroy());
    near.pipe(far).pipe(near);
  });
  proxy.listen(0, "127.0.0.1", () => process.stdout.write(`${proxy.address().port}\n`));
}

async function overHttp1({ url, method = "POST", headers, body }) {
  const request = url.startsWith("https") ? requestHttps : requestHttp;
  const sent = request(url, { method, headers, agent: false, rejectUnauthorized: false });
  sent.end(body === undefined ? undefined : Buffer.from(body, "latin1"));
  const [answer] = await once(sent, "response");
  return { status: answer.statusCode, body: (await buffer(answer)).toString() };
}

async function overHttp2({ url, method = "POST", headers, body }) {
  const { origin, host, pathname } = new URL(url);
  const session = connectHttp2(origin, { rejectUnauthorized: false });
  const stream = session.request({
    ":method": method,
    ":path": pathname,
    ":authority": host,
    ...headers,
  });
  stream.end(body === undefined ? undefined : Buffer.from(body, "latin1"));
  let trailers = {};
  stream.on("trailers", (given) => (trailers = given));
  const [answer] = await once(stream, "response");
  const text = (await buffer(stream)).toString();
  session.destroy();
  return { status: answer[":status"], grpc: trailers["grpc-status"] ?? answer["grpc-status"], body: text };
}

/** Sends a request and disconnects before it is handled, in one of several ways. */
async function strike({ port, text }, turn) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(text);
  if (turn % 3 === 0) socket.destroy();
  else if (turn % 3 === 1) socket.resetAndDestroy();
  else socket.end(() => socket.destroy());
  await once(socket, "close");
}

async function abandon({ port, alpn, first, rest }) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await once(socket, "connect");
  const options = { socket, ALPNProtocols: [alpn], rejectUnauthorized: false };
  const top = alpn === undefined ? socket : connectTls(options);
  if (top !== socket) await once(top, "secureConnect");
  await new Promise((sent) => top.write(Buffer.from(first, "latin1"), sent));
  process.stdout.write(`${socket.localPort}\n`);
  await once(process.stdin, "data");
  await new Promise((sent) => top.write(Buffer.from(rest, "latin1"), sent));
  socket.resetAndDestroy();
  process.stdin.destroy();
}
