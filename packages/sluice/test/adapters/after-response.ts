import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GateOptions } from '../../src/http/gate-options.ts'
import type { Limiter } from '../../src/index.ts'
import { sendRequest } from '../../src/testing/send-http.ts'
import { APPS } from './status-apps.ts'

type Options = GateOptions<unknown>

/** Resolves when it reads this number. */
async function soon(read: () => Promise<number | undefined>, expected: number): Promise<void> {
  await expect.poll(read, { interval: 2 }).toBe(expected)
}

/** @param threeTokens makes a limiter that gives each key three tokens and refills none of them during a test */
export function countsAfterResponses(threeTokens: () => Limiter): void {
  describe.each(APPS)('%s', (_name, serve) => {
    const served = async (options: Options): Promise<{ url: string; limits: Limiter; left: () => Promise<number | undefined> }> => {
      const limits = threeTokens()
      const { url, close } = await serve({ limiter: limits, key: () => 'k', ...options })
      onTestFinished(async () => {
        await close()
        await limits.reset('k')
      })
      return { url, limits, left: async () => (await limits.peek('k')).limits[0]?.remaining }
    }
    /** Sends a request, then closes the connection as soon as `when` resolves. Without `when`, closes it when the response has begun. */
    const leave = async (url: string, path: string, when?: () => Promise<unknown>): Promise<void> => {
      const { port, hostname } = new URL(url)
      const socket = connect(Number(port), hostname).on('error', () => {})
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      await (when ?? (() => once(socket, 'data')))()
      socket.destroy()
    }

    it('counts only failures, or only successes', async () => {
      const failures = await served({ countWhen: 'failure' })
      for (const status of [200, 302, 399, 200]) expect((await sendRequest(failures.url, { path: `/${status}` })).status).toBe(status)
      await soon(failures.left, 3)
      for (const status of [400, 401, 503]) expect((await sendRequest(failures.url, { path: `/${status}` })).status).toBe(status)
      expect((await sendRequest(failures.url, { path: '/200' })).status).toBe(429)

      const successes = await served({ countWhen: 'success' })
      for (const path of ['/500', '/200', '/400']) await sendRequest(successes.url, { path })
      await soon(successes.left, 2)
    })

    it('a client that leaves changes nothing: the response that the handler makes then counts', async () => {
      const { url, left } = await served({ countWhen: 'failure' })
      const takenTo = (remaining: number) => () => soon(left, remaining)
      await leave(url, '/left/401', takenTo(2))
      await leave(url, '/left/200', takenTo(1))
      await soon(left, 2)
      await leave(url, '/left/500', takenTo(1))
      await leave(url, '/left/302', takenTo(0))
      await soon(left, 1)
    })

    it('a response that has begun counts by its status, also if the client does not wait for its end', async () => {
      const { url, left } = await served({ countWhen: 'failure' })
      await leave(url, '/begun/401')
      await leave(url, '/begun/200')
      await soon(left, 2)
      await leave(url, '/begun/500')
      await leave(url, '/begun/200')
      await soon(left, 1)
    })
  })
}
