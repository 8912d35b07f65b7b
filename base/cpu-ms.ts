/** Milliseconds this thread has computed: a busy machine makes them no more. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
