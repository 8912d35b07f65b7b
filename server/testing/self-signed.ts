import { generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";

/** The few kinds of DER values that a certificate is made of (X.690). */
function der(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  return Buffer.concat([Buffer.from([tag, 0x82, body.length >> 8, body.length & 0xff]), body]);
}

const sequence = (...items: Buffer[]): Buffer => der(0x30, ...items);
const octets = (content: Buffer): Buffer => der(0x04, content);
const bits = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content);
const text = (value: string): Buffer => der(0x0c, Buffer.from(value));
const time = (date: Date): Buffer =>
  der(0x18, Buffer.from(`${date.toISOString().replace(/\D/g, "").slice(0, 14)}Z`));

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return der(0x06, Buffer.from(bytes));
}

const NAME = sequence(der(0x31, sequence(objectId("2.5.4.3"), text("localhost"))));
const NO_PARAMETERS = der(0x05);
const SIGNED_WITH = {
  ec: sequence(objectId("1.2.840.10045.4.3.2")),
  rsa: sequence(objectId("1.2.840.113549.1.1.11"), NO_PARAMETERS),
};
const TRUE = der(0x01, Buffer.from([0xff]));
const EXTENSIONS = sequence(
  // It is self-signed, so that clients that trust it treat it as an authority.
  sequence(objectId("2.5.29.19"), TRUE, octets(sequence(TRUE))),
  sequence(
    objectId("2.5.29.17"),
    octets(sequence(der(0x82, Buffer.from("localhost")), der(0x87, Buffer.from([127, 0, 0, 1])))),
  ),
);

function newKeys(kind: "ec" | "rsa"): { publicKey: KeyObject; privateKey: KeyObject } {
  return kind === "ec"
    ? generateKeyPairSync("ec", { namedCurve: "prime256v1" })
    : generateKeyPairSync("rsa", { modulusLength: 2048 });
}

/** A new self-signed certificate for localhost, and its key, as PEM. X.509 is RFC 5280. */
export function selfSigned(kind: "ec" | "rsa", from: Date, until: Date): { cert: string; key: string } {
  const { publicKey, privateKey } = newKeys(kind);
  const serial = randomBytes(8);
  // A serial number is positive and written without leading zeros.
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    SIGNED_WITH[kind],
    NAME,
    sequence(time(from), time(until)),
    NAME,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, EXTENSIONS),
  );
  const whole = sequence(content, SIGNED_WITH[kind], bits(sign("sha256", content, privateKey)));
  const lines = whole.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.trim()}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}
