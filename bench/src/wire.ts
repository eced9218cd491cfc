import { Redis, type RedisOptions } from 'ioredis'

/** Connections to the server, and what was really sent over them. */
export interface Wire {
  readonly clients: readonly Redis[]
  sent(): Sent
  close(): Promise<void>
}

export interface Sent {
  readonly commands: number
  /** Trips to the server: as commands, but everything from MULTI to EXEC is one batch and counts as one. */
  readonly calls: number
}

/** What a contestant's documentation requires of the client. */
export type WireOptions = Pick<
  RedisOptions,
  | 'autoResendUnfulfilledCommands'
  | 'connectTimeout'
  | 'enableAutoPipelining'
  | 'enableOfflineQueue'
  | 'maxRetriesPerRequest'
  | 'retryStrategy'
>

/** Opens connections that count every command they send; rejects where the server does not answer. */
export async function openWire(url: string, connections: number, options: WireOptions = {}): Promise<Wire> {
  let [commands, calls] = [0, 0]
  const count = (client: Redis): void => {
    const send = client.sendCommand.bind(client)
    let inTransaction = false
    client.sendCommand = (command, stream) => {
      commands += 1
      if (command.name === 'multi') inTransaction = true
      else if (command.name === 'exec') inTransaction = false
      if (!inTransaction) calls += 1
      return send(command, stream)
    }
  }
  const clients = Array.from({ length: connections }, () => new Redis(url, { retryStrategy: () => null, ...options, lazyConnect: true }))
  for (const client of clients) {
    // Without a listener the client prints; what went wrong comes out of connect() and of the commands.
    client.on('error', () => {})
    count(client)
  }
  await Promise.all(clients.map((client) => client.connect()))
  return {
    clients,
    sent: () => ({ commands, calls }),
    close: async () => {
      // One that was lost and is not back yet has nothing to say goodbye to.
      await Promise.all(clients.map((client) => client.quit().catch(() => client.disconnect())))
    },
  }
}
