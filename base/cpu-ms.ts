/** Milliseconds of processor time of this thread, which a busy machine does not increase. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
