/** Calls `holds` again and again until it returns true. A rejected call, such as one to a server that is not up yet, counts as false. */
export async function until(what: string, holds: () => Promise<boolean>, patienceMs = 20_000): Promise<void> {
  const end = performance.now() + patienceMs
  while (!(await holds().catch(() => false))) {
    if (performance.now() > end) throw new Error(`not within ${patienceMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
