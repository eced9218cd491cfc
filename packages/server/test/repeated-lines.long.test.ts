import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { inBatches, repeatedLines } from '../src/logs/repeated-lines.ts'
import { serveBuilt } from './command.ts'
import { policyFiles } from './policy-file.ts'
import { exchange } from './raw.ts'

const requestText = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`
const redis = inject('engines').redis
const policyFile = policyFiles()

describe('S7: a warning that repeats', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('is one line a minute for each kind, whichever process counts, and every request is in one of the lines', () => {
    const lines: string[] = []
    const sum = repeatedLines((_level, _event, line) => lines.push(line), 5)
    const workers = Array.from({ length: 8 }, () => inBatches(sum))
    for (const count of workers) for (let met = 0; met < 100; met += 1) count('wrong-token')
    expect(lines).toEqual(['1 request with a wrong admin token, refused with 401'])
    workers[0]?.('connections-full')
    expect(lines[1]).toBe('1 connection found all 5 taken (--max-connections): above it only health is answered')
    vi.advanceTimersByTime(59_999)
    expect(lines).toHaveLength(2)
    vi.advanceTimersByTime(1)
    expect(lines.slice(2)).toEqual(['799 requests with a wrong admin token in the last minute, refused with 401'])
    vi.advanceTimersByTime(600_000)
    expect(lines).toHaveLength(3)
  })

  it('is sent to the primary at most once a second by each worker', () => {
    const sent: number[] = []
    const count = inBatches((_what, times) => sent.push(times))
    for (let met = 0; met < 10_000; met += 1) count('wrong-token')
    vi.advanceTimersByTime(3_000)
    expect(sent).toEqual([1, 9_999])
  })
})

describe.skipIf(redis === undefined)('serve --workers 3', () => {
  const POLICY = `version: 1\nfailure: { deadline: 20s }\nrules:\n  - { name: repeated-${process.pid}, key: [], rate: 1/h, burst: 20 }\n`

  it('says in one line for the service that wrong tokens come and that its connections are taken', async () => {
    const token = policyFile('a-token-of-administration')
    const flags = ['--workers', '3', '--store', redis as string, '--admin-token-file', token, '--max-connections', '1']
    const service = await serveBuilt([policyFile(POLICY), ...flags])
    onTestFinished(async () => void (await service.stop()))
    const metric = async (name: string): Promise<number> => {
      const text = await exchange(service.url, requestText('/metrics'))
      return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? -1)
    }
    await vi.waitFor(async () => expect(await exchange(service.url, requestText('/readyz'))).toContain('"serving":3'), { timeout: 20_000 })
    for (let nth = 0; nth < 30; nth += 1)
      expect(await exchange(service.url, requestText('/v1/policy', 'Authorization: Bearer wrong\r\n'))).toMatch(/^HTTP\/1\.1 (401|503)/)
    const held = await Promise.all(Array.from({ length: 6 }, () => opened(service.url)))
    for (const socket of held) socket.destroy()
    await expect.poll(() => metric('sluice_connections_refused_total'), { timeout: 10_000 }).toBeGreaterThanOrEqual(3)
    expect(await metric('sluice_admin_refused_total\\{token="wrong"\\}')).toBeGreaterThanOrEqual(3)
    expect(await service.stop()).toBe(0)
    expect(service.output().match(/with a wrong admin token/g)).toHaveLength(1)
    expect(service.output().match(/found all 1 taken/g)).toHaveLength(1)
  })
})

async function opened(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  // Its answer says that a worker has the connection.
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await new Promise<void>((resolve) => socket.once('data', () => resolve()))
  return socket
}
