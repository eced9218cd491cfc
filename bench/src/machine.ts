import { cpus, loadavg } from 'node:os'
import { Redis } from 'ioredis'

/** Where the figures were measured. */
export interface Machine {
  readonly cores: number
  readonly cpu: string
  /** Of the last minute: what else the machine did. */
  readonly load: number
  readonly node: string
}

export interface RedisMachine extends Machine {
  readonly redis: string
}

export function thisMachine(): Machine {
  const processors = cpus()
  const cpu = processors[0]?.model.trim() ?? 'unknown processor'
  return { cores: processors.length, cpu, load: loadavg()[0] ?? 0, node: process.versions.node }
}

/** Asks this machine and the server; rejects where the server does not answer. */
export async function machineOf(url: string): Promise<RedisMachine> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  let cause: Error | undefined
  client.on('error', (error: Error) => (cause = error))
  try {
    await client.connect()
    const info = await client.info('server')
    const version = /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? 'of unknown version'
    return { ...thisMachine(), redis: version }
  } catch (error) {
    throw cause ?? error
  } finally {
    client.disconnect()
  }
}
