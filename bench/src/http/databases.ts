import { Redis } from 'ioredis'

/** The numbered databases of a private Redis. Each web server gets its own, because servers with different limits must not share states. */
export interface Databases {
  /** The URL of a database that no server of this run has used since the last `clear`. */
  next(): string
  /** Deletes everything, and begins with the first database again. */
  clear(): Promise<void>
}

/** Databases of a redis-server with its default settings. */
const COUNT = 16

/** Begins with empty databases. The server must belong to this run. */
export async function databasesOf(url: string): Promise<Databases> {
  let used = 0
  const clear = async (): Promise<void> => {
    const client = new Redis(url)
    await client.flushall()
    await client.quit()
    used = 0
  }
  await clear()
  return {
    next() {
      if (used === COUNT) throw new RangeError(`a redis-server has ${COUNT} databases`)
      return `${url}/${used++}`
    },
    clear,
  }
}
