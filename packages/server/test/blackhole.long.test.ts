import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { type Running, serveBuilt as serve } from './command.ts'

const engines = inject('engines')

/** Starts a proxy that passes everything on. After `swallow`, connections that are open by then lose all bytes, and new ones work. */
async function proxyTo(url: string): Promise<{ url: string; swallow(): void; close(): void }> {
  const target = new URL(url)
  const { hostname, port } = target
  const pairs = new Set<readonly [Socket, Socket]>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    pairs.add([near, far])
    near.pipe(far)
    far.pipe(near)
    for (const socket of [near, far]) socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  target.port = String((server.address() as AddressInfo).port)
  return {
    url: target.href,
    swallow: () => {
      for (const [near, far] of pairs) {
        near.unpipe(far)
        far.unpipe(near)
        near.resume()
      }
    },
    close: () => {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      server.close()
    },
  }
}

describe.each([
  ['redis', engines.redis],
  ['postgres', engines.postgres],
])('a %s whose connections are swallowed', (_name, url) => {
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
  })

  it.skipIf(url === undefined)('is reached again over new ones, and does not keep the service from ending', async () => {
    const proxy = await proxyTo(url ?? '')
    ends.push(proxy.close)
    const service: Running = await serve(['--demo', '--store', proxy.url])
    ends.push(() => service.stop('SIGKILL'))
    const send = async (): Promise<number> => (await fetch(`${service.url}/api/data`)).status
    await expect.poll(send, { timeout: 10_000, interval: 100 }).toBe(200)
    proxy.swallow()
    expect(await send()).toBe(503)
    await expect.poll(send, { timeout: 10_000, interval: 100 }).toBe(200)
    proxy.swallow()
    expect(await send()).toBe(503)
    expect(await service.stop('SIGTERM')).toBe(0)
  })
})
