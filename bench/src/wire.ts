import { Redis, type RedisOptions } from 'ioredis'

/** Connections to the server, with counts of what was sent over them. */
export interface Wire {
  readonly clients: readonly Redis[]
  sent(): Sent
  close(): Promise<void>
}

export interface Sent {
  readonly commands: number
  /** Round trips to the server: the commands, but everything from MULTI to EXEC counts as one. */
  readonly calls: number
}

/** The client options that a contestant's documentation may require. */
export type WireOptions = Pick<
  RedisOptions,
  | 'autoResendUnfulfilledCommands'
  | 'connectTimeout'
  | 'enableAutoPipelining'
  | 'enableOfflineQueue'
  | 'maxRetriesPerRequest'
  | 'retryStrategy'
>

/** Opens connections that count every command they send. Rejects if the server does not answer. */
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
    // Without a listener the client would print errors. They are reported by connect() and by the commands.
    client.on('error', () => {})
    count(client)
  }
  await Promise.all(clients.map((client) => client.connect()))
  return {
    clients,
    sent: () => ({ commands, calls }),
    close: async () => {
      // A connection that is lost cannot send QUIT, so it is disconnected.
      await Promise.all(clients.map((client) => client.quit().catch(() => client.disconnect())))
    },
  }
}
