import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { serveBuilt as serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const { redis } = inject('engines')
const policyFile = policyFiles()
/** Three times what a decision may take. */
const DELAY_MS = 150

/** Starts a proxy to a server. Every answer takes 150 ms longer through it. */
async function slowWay(url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const way = createServer((client) => {
    const server = connect(Number(port), hostname)
    for (const socket of [client, server]) sockets.add(socket.on('error', () => socket.destroy()))
    client.pipe(server)
    server.on('data', (data) => setTimeout(() => client.write(data), DELAY_MS))
    server.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    way.close()
  })
  return `redis://127.0.0.1:${(way.address() as AddressInfo).port}`
}

describe.skipIf(redis === undefined)('issue 9, item 7: a store that takes longer than a decision may', () => {
  it('answers an operator about a key: the deadline of the policy is for requests', async () => {
    const rule = `slow-${process.pid}`
    const file = policyFile(`version: 1\nrules:\n  - { name: ${rule}, key: ["header:x-user"], rate: 1/h, burst: 3 }\n`)
    const token = policyFile('a-token-of-administration')
    const service = await serve([file, '--store', await slowWay(redis as string), '--admin-token-file', token])
    onTestFinished(async () => void (await service.stop()))
    const send = async (method: string, below = '', body?: string): Promise<unknown> => {
      const headers = { authorization: 'Bearer a-token-of-administration' }
      const answer = await fetch(`${service.url}/v1/keys/ada${below}`, { method, headers, ...(body === undefined ? {} : { body }) })
      return [answer.status, await answer.json()]
    }
    const shown = [200, { states: [expect.objectContaining({ name: rule, limit: 3, remaining: 3 })], overrides: [] }]
    // The first call of a store has a longer deadline anyway. So the request is made three times.
    for (let times = 0; times < 3; times += 1) expect(await send('GET')).toEqual(shown)
    expect(await send('PUT', '/block', '{"duration":"1h"}')).toEqual([200, { blocked: true }])
    expect(await send('DELETE', '/block')).toEqual([200, { blocked: false }])
    expect(await send('DELETE')).toEqual([200, { reset: true }])
  })
})
