import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Quota } from '../contestants/contestant.ts'
import { type ServerProcess, startServer } from '../http/server-process.ts'
import type { PartOptions } from '../part.ts'

const SLUICE = fileURLToPath(new URL('../../../packages/server/dist/main.js', import.meta.url))

export interface ServiceOptions extends Pick<PartOptions, 'atEnd'> {
  /** Where the policy is written. */
  readonly folder: string
  /** The URL of the store; default: the memory of the process. */
  readonly store?: string
  /** Default 1. */
  readonly workers?: number
}

let services = 0

/** Starts the decision service with one rule: a token bucket for each `X-Api-Key`. Proxies on this machine may call it. */
export function startService({ tokens, per, burst }: Quota, { folder, store, workers = 1, atEnd }: ServiceOptions): Promise<ServerProcess> {
  const policy = join(folder, `policy-${(services += 1)}.yaml`)
  const rate = `${tokens}/${{ '1s': 's', '1m': 'min', '1d': 'd' }[per]}`
  const rule = `  - { name: per-client, key: [header:x-api-key], rate: ${rate}, burst: ${burst} }`
  writeFileSync(policy, ['version: 1', 'trustedProxies: [127.0.0.1/32]', 'rules:', rule, ''].join('\n'))
  const args = ['serve', policy, '--listen', '127.0.0.1:0', ...(store === undefined ? [] : ['--store', store])]
  if (workers === 1) return startServer(SLUICE, args, { atEnd })
  return startServer(SLUICE, [...args, '--workers', String(workers)], { atEnd, processes: 'several' })
}

export function keysOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `client-${1_000 + index}`)
}

/** A request with a JSON body, as bytes. */
export function posting(path: string, body: string): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`
  return Buffer.from(`${head}\r\n\r\n${body}`)
}

/** A request of a client without a body, as bytes, with further header lines. */
export function getting(path: string, key: string, lines: readonly string[] = []): Buffer {
  return Buffer.from([`GET ${path} HTTP/1.1`, 'Host: localhost', `X-Api-Key: ${key}`, ...lines, '', ''].join('\r\n'))
}
