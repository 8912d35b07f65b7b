/** Whether a client and a server of these versions understand each other: by semantic versioning, 0.x by its minor. */
export function isCompatible(client: string, server: string): boolean {
  return generation(client) === generation(server);
}

function generation(version: string): string {
  const [major, minor] = version.split(".");
  return major === "0" ? `0.${minor}` : (major ?? "");
}
