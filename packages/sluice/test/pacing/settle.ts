/** Runs everything that does not wait for a clock: promises, and the steps of Node's streams. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
