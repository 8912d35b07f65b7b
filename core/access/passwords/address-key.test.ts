import { expect, it } from "vitest";
import { addressKey, networkOf } from "./address-key.ts";

it.each([
  [undefined, ""],
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::FFFF:192.0.2.7", "192.0.2.7"],
  ["::1", "0:0:0:0::/64"],
  ["2001:db8:0:7::1", "2001:db8:0:7::/64"],
  ["2001:0DB8::7:1:2:3:4", "2001:db8:0:7::/64"],
  ["2001:db8:0:7:ffff:ffff:ffff:ffff", "2001:db8:0:7::/64"],
  ["2001:db8:0:8::1", "2001:db8:0:8::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["64:ff9b::192.0.2.7", "64:ff9b:0:0::/64"],
  ["no address", "no address"],
])("A72 counts %s as %s", (address, key) => {
  expect(addressKey(address)).toBe(key);
});

it.each([
  ["192.0.2.7", "192.0.2."],
  ["2001:db8:7:9::/64", "2001:db8:7"],
  ["", ""],
  ["no address", "no address"],
])("A74 the network of %s is %s", (key, network) => {
  expect(networkOf(key)).toBe(network);
});
