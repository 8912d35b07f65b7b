#!/usr/bin/env node
// The command `cairn` of an installed package. It is written for any Node: one that is new enough runs the command itself, an older one
// starts the Node that npm has installed beside this package, or says in one sentence what is missing.
"use strict";

var childProcess = require("child_process");
var path = require("path");
var manifest = require("../package.json");

var START = path.join(__dirname, "..", "cli", "start.js");
var NODE_MIN = manifest.cairn.nodeMin;
/** A terminal sends these to all its processes. */
var FROM_TERMINAL = ["SIGINT", "SIGQUIT"];
var FROM_PROGRAMS = ["SIGTERM", "SIGHUP"];

function isOlder(version, than) {
  var parts = version.split(".").map(Number);
  var limits = than.split(".").map(Number);
  for (var i = 0; i < limits.length; i += 1) {
    if (parts[i] !== limits[i]) return parts[i] < limits[i];
  }
  return false;
}

/** The Node for this machine that npm has installed with this package, unless it was left out. */
function findBrought() {
  var names = Object.keys(manifest.optionalDependencies);
  for (var i = 0; i < names.length; i += 1) {
    try {
      var folder = path.dirname(require.resolve(names[i] + "/package.json"));
      var other = require(path.join(folder, "package.json"));
      if (isForThisMachine(other)) return path.join(folder, Object.values(other.bin)[0]);
    } catch {
      // It is for another machine.
    }
  }
  return undefined;
}

function isForThisMachine(other) {
  return (
    [].concat(other.os).indexOf(process.platform) !== -1 && [].concat(other.cpu).indexOf(process.arch) !== -1
  );
}

/** The other Node gets the same arguments, files and signals, and this process ends as it ends. */
function handOver(node) {
  var child = childProcess.spawn(node, [START].concat(process.argv.slice(2)), { stdio: "inherit" });
  function pass(signal) {
    child.kill(signal);
  }
  FROM_PROGRAMS.forEach(function (signal) {
    listen(signal, pass);
  });
  FROM_TERMINAL.forEach(function (signal) {
    listen(signal, process.stdin.isTTY ? function () {} : pass);
  });
  child.on("error", function (error) {
    console.error("cairn: cannot start " + node + ": " + error.message);
    process.exit(1);
  });
  child.on("exit", function (code, signal) {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function listen(signal, listener) {
  try {
    process.on(signal, listener);
  } catch {
    // Not a signal of this system.
  }
}

if (!isOlder(process.versions.node, NODE_MIN)) {
  void import("../cli/start.js");
} else {
  var brought = findBrought();
  if (brought !== undefined) handOver(brought);
  else {
    console.error(
      "cairn needs Node " +
        NODE_MIN +
        " or newer and found only Node " +
        process.versions.node +
        " (" +
        process.execPath +
        "): install a newer one, or install cairn-tracker with its optional packages, which bring one along.",
    );
    process.exitCode = 1;
  }
}
