import { createServer } from 'node:net'

/**
 * Below the range from which systems take the ports of outgoing connections and of `listen(0)` (32,768 on Linux, 49,152 by RFC 6335):
 * a port of that range may be gone before the engine that got it has come up, and when an engine comes back to where it was.
 */
const LOWEST = 10_000
const HIGHEST = 32_767

/** Processes that run side by side have numbers close to each other: each looks for ports in its own stretch first. */
const STRETCH = 97
let next = LOWEST + ((process.pid * STRETCH) % (HIGHEST - LOWEST))

/** A port of the loopback address that was free a moment ago, and that this process did not get before. */
export async function freePort(): Promise<number> {
  for (let tried = LOWEST; tried <= HIGHEST; tried += 1) {
    const port = next
    next = next === HIGHEST ? LOWEST : next + 1
    if (await isFree(port)) return port
  }
  throw new Error(`no port of 127.0.0.1 from ${LOWEST} to ${HIGHEST} is free`)
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
