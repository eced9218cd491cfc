import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { runBuilt, serveBuilt as serve } from './command.ts'
import { childrenOf, isAlive } from './children-of.ts'
import { policyFiles } from './policy-file.ts'

/** Processes are read from /proc; elsewhere these tests are skipped. */
const redis = process.platform === 'linux' ? inject('engines').redis : undefined
const policyFile = policyFiles()
/** A long deadline, because a busy machine may be late. These tests are not about lateness. */
const UNHURRIED = 'failure: { deadline: 20s }\n'
const POLICY = `version: 1\n${UNHURRIED}rules:\n  - { name: workers-stopped-${process.pid}, key: [], rate: 1/h, burst: 20 }\n`

describe.skipIf(redis === undefined)('serve --workers, when it is stopped', () => {
  it('answers what its workers had begun to read, in every one of them', async () => {
    const service = await serve(['--demo', policyFile(POLICY), '--workers', '2', '--store', redis as string])
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status, { timeout: 20_000 }).toBe(200)
    const [head, body] = ['POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n', '{"key":"a"}']
    // First a whole request is sent on each connection. When it is answered, the connection belongs to a worker, and is not still being
    // passed to one.
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
        let received = ''
        socket.on('data', (data) => (received += data.toString())).on('error', (error) => (received += error.message))
        const closed = once(socket, 'close')
        socket.write(head + body)
        await vi.waitFor(() => expect(received).toContain('"outcome"'), { timeout: 10_000 })
        socket.write(head + body.slice(0, 4))
        return { statuses: () => received.match(/HTTP\/1\.1 \d{3}|ECONN\w+/g), finish: () => socket.write(body.slice(4)), closed }
      }),
    )
    // Each socket has sent the beginning of a second request. When requests that came later are answered, the workers have read these
    // beginnings.
    await Promise.all(
      Array.from({ length: 8 }, async () => (await fetch(`${service.url}/livez`, { headers: { connection: 'close' } })).text()),
    )
    const ended = service.stop('SIGINT')
    for (const { finish } of answers) finish()
    await Promise.all(answers.map(({ closed }) => closed))
    expect(answers.map(({ statuses }) => statuses())).toEqual(answers.map(() => ['HTTP/1.1 200', 'HTTP/1.1 200']))
    expect(await ended).toBe(0)
  })

  it('leaves no worker behind when it is killed', async () => {
    const service = await serve(['--demo', '--workers', '2', '--store', redis as string])
    await expect.poll(() => childrenOf(service.pid).length).toBe(2)
    const workers = childrenOf(service.pid)
    await service.stop('SIGKILL')
    await expect.poll(() => workers.filter(isAlive), { timeout: 10_000 }).toEqual([])
  })
})

describe('serve --workers ends in one line', () => {
  it('a store that cannot be reached', async () => {
    const ran = await runBuilt(['serve', '--demo', '--workers', '4', '--require-store', '--store', 'redis://127.0.0.1:1'], { PORT: '0' })
    expect(ran).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^sluice: store redis:\/\/127\.0\.0\.1:1 cannot be reached: [^\n]+\n$/),
    })
  })

  it.skipIf(redis === undefined)('a port in use', async () => {
    const other = createServer()
    onTestFinished(() => void other.close())
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const ran = await runBuilt(['serve', '--demo', '--workers', '4', '--store', redis as string], { PORT: String(port) })
    const line = `sluice: cannot listen on 127.0.0.1:${port}: the port is in use; set PORT or --listen to another\n`
    expect(ran).toEqual({ code: 1, stdout: '', stderr: line })
  })
})
