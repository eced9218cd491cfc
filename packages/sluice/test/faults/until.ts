/** Asks until it holds; a server that is not there yet does not hold. */
export async function until(what: string, holds: () => Promise<boolean>, patienceMs = 20_000): Promise<void> {
  const end = performance.now() + patienceMs
  while (!(await holds().catch(() => false))) {
    if (performance.now() > end) throw new Error(`not within ${patienceMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
