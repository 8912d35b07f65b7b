// Plain JavaScript, because the Node that reads it may be too old for the rest.

/** The oldest Node that the server and the command line run on. */
export const NODE_MIN = "24.14.1";

/** Whether a version such as "22.1.0" comes before another. */
export function isOlder(version, than = NODE_MIN) {
  const parts = version.split(".").map(Number);
  const limits = than.split(".").map(Number);
  for (let i = 0; i < limits.length; i += 1) {
    if (parts[i] !== limits[i]) return parts[i] < limits[i];
  }
  return false;
}
