import { createServer } from 'node:net'

/**
 * The ports for engines. They are below the range from which systems take the ports of outgoing connections and of `listen(0)` (from 32,768
 * on Linux, from 49,152 by RFC 6335). A port of that range may be taken before its engine has started, or while the engine restarts.
 */
const LOWEST = 10_000
const HIGHEST = 32_767

/** Concurrent processes have similar pids. So each process first searches a stretch of this many ports of its own. */
const STRETCH = 97
let next = LOWEST + ((process.pid * STRETCH) % (HIGHEST - LOWEST))

/** A port of the loopback address that was free a moment ago. This process gets each port only once. */
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
