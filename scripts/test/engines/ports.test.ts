import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../src/engines/ports.ts'

test('a port is returned once, and never one from which systems take those of outgoing connections', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()))
  expect(new Set(ports).size).toBe(ports.length)
  expect(Math.min(...ports)).toBeGreaterThanOrEqual(10_000)
  expect(Math.max(...ports)).toBeLessThan(32_768)
})

test('a port that somebody listens on is passed over', async () => {
  const taken = (((await freePort()) + 1 - 10_000) % 22_768) + 10_000
  const server = createServer().listen(taken, '127.0.0.1')
  // If this fails, another program listens on it already.
  await once(server, 'listening').catch(() => {})
  try {
    expect(await freePort()).not.toBe(taken)
  } finally {
    server.close()
  }
})
