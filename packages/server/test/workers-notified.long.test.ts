import { rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { childrenOf } from './children-of.ts'
import { type RunningProcess, serveBuilt as serve } from './command.ts'
import { policyFiles } from './policy-file.ts'
import { stopUnderLoad } from './stop-workers.ts'

/** Processes are read from /proc; elsewhere these tests are skipped. */
const redis = process.platform === 'linux' ? inject('engines').redis : undefined
const policyFile = policyFiles()
/** A long deadline, because a busy machine may be late. These tests are not about lateness. */
const UNHURRIED = 'failure: { deadline: 20s }\n'

describe.skipIf(redis === undefined)('a policy of several workers', () => {
  it('is put in all of them, also in one that begins later, until the file changes', { timeout: 120_000 }, async () => {
    const policy = (name: string): string => `version: 1\nrules:\n  - { name: ${name}-${process.pid}, key: [], rate: 1/h, burst: 9 }\n`
    const [file, token] = [policyFile(policy('first')), policyFile('a-token-of-administration')]
    const service = await serve([file, '--workers', '3', '--store', redis as string, '--admin-token-file', token])
    onTestFinished(async () => void (await service.stop()))
    const administration = { headers: { authorization: 'Bearer a-token-of-administration' } }
    /** The rule names that all workers return, each called several times. */
    const names = async (): Promise<string[]> => {
      const pending = Array.from({ length: 9 }, async () => {
        const answer = await fetch(`${service.url}/v1/policy`, { headers: { ...administration.headers, connection: 'close' } })
        return ((await answer.json()) as { rules: { name: string }[] }).rules.map(({ name }) => name.replace(`-${process.pid}`, ''))
      })
      return [...new Set((await Promise.all(pending)).flat())].sort()
    }
    const ready = async (): Promise<number> => (await fetch(`${service.url}/readyz`)).status
    await expect.poll(ready, { timeout: 20_000 }).toBe(200)
    expect(await names()).toEqual(['first'])
    const put = await fetch(`${service.url}/v1/policy`, { method: 'PUT', body: policy('second'), ...administration })
    expect(put.status).toBe(200)
    await expect.poll(names).toEqual(['second'])
    const [victim] = childrenOf(service.pid)
    process.kill(victim as number, 'SIGKILL')
    await expect.poll(() => childrenOf(service.pid).includes(victim as number)).toBe(false)
    await expect.poll(ready, { timeout: 20_000 }).toBe(200)
    expect(await names()).toEqual(['second'])
    expect((await fetch(`${service.url}/v1/policy`, { method: 'PUT', body: 'rules: 7', ...administration })).status).toBe(400)
    expect(await names()).toEqual(['second'])
    writeFileSync(file, policy('third'))
    process.kill(service.pid, 'SIGHUP')
    await expect.poll(names, { timeout: 10_000 }).toEqual(['third'])
    const [other] = childrenOf(service.pid)
    process.kill(other as number, 'SIGKILL')
    await expect.poll(() => childrenOf(service.pid).includes(other as number)).toBe(false)
    await expect.poll(ready, { timeout: 20_000 }).toBe(200)
    expect(await names()).toEqual(['third'])
  })
})

/** The rule names of policies at a service, and the means to end one of its workers and await the next. */
function watched(service: RunningProcess) {
  const names = async (): Promise<string[]> => {
    const headers = { authorization: 'Bearer a-token-of-administration', connection: 'close' }
    const pending = Array.from({ length: 9 }, async () => {
      const answer = await fetch(`${service.url}/v1/policy`, { headers })
      return ((await answer.json()) as { rules: { name: string }[] }).rules.map(({ name }) => name)
    })
    return [...new Set((await Promise.all(pending)).flat())].sort()
  }
  const ready = async (): Promise<number> => (await fetch(`${service.url}/readyz`)).status
  const replaceOne = async (): Promise<void> => {
    const [victim] = childrenOf(service.pid)
    process.kill(victim as number, 'SIGKILL')
    await expect.poll(() => childrenOf(service.pid).includes(victim as number)).toBe(false)
    await expect.poll(ready, { timeout: 20_000 }).toBe(200)
  }
  return { names, ready, replaceOne }
}

describe.skipIf(redis === undefined)('a worker that replaces another', () => {
  const policy = (name: string, store: string = redis as string): string =>
    `version: 1\nstore: ${store}\nrules:\n  - { name: ${name}, key: [], rate: 1/h, burst: 9 }\n`

  it.each([
    ['is bad', 'rules: nonsense'],
    ['names another store', policy('apart', 'memory:')],
  ])('has the policy in use while the file %s, and a good file afterwards', { timeout: 120_000 }, async (_what, refused) => {
    const [file, token] = [policyFile(policy('first')), policyFile('a-token-of-administration')]
    const service = await serve([file, '--workers', '2', '--admin-token-file', token])
    onTestFinished(async () => void (await service.stop()))
    const { names, ready, replaceOne } = watched(service)
    await expect.poll(ready, { timeout: 20_000 }).toBe(200)
    writeFileSync(file, refused)
    await expect.poll(() => service.output(), { timeout: 10_000 }).toContain('policy refused, the present one stays')
    // All workers are replaced in turn.
    for (const _ of [1, 2]) await replaceOne()
    expect(await names()).toEqual(['first'])
    expect(service.output().match(/worker \d+ ended/g)).toHaveLength(2)
    writeFileSync(file, policy('second'))
    await expect.poll(names, { timeout: 10_000 }).toEqual(['second'])
    await replaceOne()
    expect(await names()).toEqual(['second'])
  })

  it('reads the file itself if no worker is left, and none can begin with the policy in use', { timeout: 120_000 }, async () => {
    const [secret, token] = [policyFile('a secret of more than thirty-two bytes, to be removed'), policyFile('a-token-of-administration')]
    const file = policyFile(`identifiers: { mode: hmac, secretFile: ${secret} }\n${policy('first')}`)
    const service = await serve([file, '--workers', '2', '--admin-token-file', token])
    onTestFinished(async () => void (await service.stop()))
    const { names, ready } = watched(service)
    await expect.poll(ready, { timeout: 20_000 }).toBe(200)
    rmSync(secret)
    for (const worker of childrenOf(service.pid)) process.kill(worker, 'SIGKILL')
    await expect.poll(() => service.output().match(/worker \d+ ended with 1/g)?.length ?? 0).toBeGreaterThan(3)
    writeFileSync(file, policy('second'))
    await expect.poll(() => ready().catch(() => 0), { timeout: 60_000 }).toBe(200)
    expect(await names()).toEqual(['second'])
  })

  it('has the policy in use while its URL is away, and fetches a new one as soon as it is back', { timeout: 120_000 }, async () => {
    let text: string | undefined = policy('first')
    const site = createServer((_, response) =>
      text === undefined ? void response.destroy() : void response.setHeader('content-length', text.length).end(text),
    )
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void site.close())
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/p.yaml`
    const token = policyFile('a-token-of-administration')
    // Within the test only new workers fetch.
    const service = await serve([url, '--workers', '2', '--policy-interval', '1h', '--admin-token-file', token])
    onTestFinished(async () => void (await service.stop()))
    const { names, ready, replaceOne } = watched(service)
    await expect.poll(ready, { timeout: 20_000 }).toBe(200)
    text = undefined
    await replaceOne()
    expect(await names()).toEqual(['first'])
    text = policy('second')
    await replaceOne()
    await expect.poll(names, { timeout: 10_000 }).toEqual(['second'])
    expect(service.output().match(/worker \d+ ended/g)).toHaveLength(2)
  })
})

describe.skipIf(redis === undefined)('an override of several workers', () => {
  it('is put in all of them, also in one that begins later, until it is taken back', { timeout: 120_000 }, async () => {
    const rule = `override-${process.pid}`
    const file = policyFile(`version: 1\n${UNHURRIED}rules:\n  - { name: ${rule}, key: ["header:x-user"], rate: 1/h, burst: 3 }\n`)
    const token = policyFile('a-token-of-administration')
    const service = await serve([file, '--workers', '3', '--store', redis as string, '--admin-token-file', token])
    onTestFinished(async () => void (await service.stop()))
    const headers = { authorization: 'Bearer a-token-of-administration', connection: 'close' }
    const ready = async (): Promise<number> => (await fetch(`${service.url}/readyz`)).status
    /** The limits that all workers return, each called several times. */
    const limits = async (): Promise<number[]> => {
      const pending = Array.from({ length: 9 }, async () => {
        const answer = await fetch(`${service.url}/v1/keys/ada`, { headers })
        return ((await answer.json()) as { states: { limit: number }[] }).states.map(({ limit }) => limit)
      })
      return [...new Set((await Promise.all(pending)).flat())]
    }
    await expect.poll(ready, { timeout: 20_000 }).toBe(200)
    expect(await limits()).toEqual([3])
    const place = `${service.url}/v1/keys/ada/override`
    const put = await fetch(place, { method: 'PUT', headers, body: JSON.stringify({ rule, rate: '1/h', burst: 8 }) })
    expect(put.status).toBe(200)
    await expect.poll(limits).toEqual([8])
    const [victim] = childrenOf(service.pid)
    process.kill(victim as number, 'SIGKILL')
    await expect.poll(() => childrenOf(service.pid).includes(victim as number)).toBe(false)
    await expect.poll(ready, { timeout: 20_000 }).toBe(200)
    expect(await limits()).toEqual([8])
    const init = { method: 'POST', headers: { connection: 'close' }, body: JSON.stringify({ key: 'ada', limit: rule }) }
    const pending = Array.from({ length: 9 }, () => fetch(`${service.url}/v1/check?status=http`, init))
    expect((await Promise.all(pending)).filter(({ status }) => status === 200)).toHaveLength(8)
    const top = async (): Promise<unknown> => (await fetch(`${service.url}/v1/keys?top=5`, { headers })).json()
    // A worker that takes longer than a second for its part is not in the answer.
    await expect.poll(top).toEqual({ keys: [{ rule, key: expect.stringMatching(/^[\da-f]{16}$/), requests: 9, error: 0, refused: 1 }] })
    expect(await (await fetch(place, { method: 'DELETE', headers })).json()).toEqual({ withdrawn: 1 })
    await expect.poll(limits).toEqual([3])
  })
})

describe.skipIf(redis === undefined)('overrides of two workers', () => {
  it('are in force in both when the administrator gets the answer, and both end with the same', { timeout: 120_000 }, async () => {
    const rule = `ordered-${process.pid}`
    const file = policyFile(`version: 1\n${UNHURRIED}rules:\n  - { name: ${rule}, key: ["header:x-user"], rate: 1/h, burst: 3 }\n`)
    const token = policyFile('a-token-of-administration')
    const service = await serve([file, '--workers', '2', '--store', redis as string, '--admin-token-file', token])
    onTestFinished(async () => void (await service.stop()))
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status, { timeout: 20_000 }).toBe(200)
    const agents = [new Agent({ keepAlive: true, maxSockets: 1 }), new Agent({ keepAlive: true, maxSockets: 1 })] as const
    onTestFinished(() => agents.forEach((agent) => agent.destroy()))
    const call = (agent: Agent, method: string, path: string, body?: object): Promise<Record<string, unknown>> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: 'Bearer a-token-of-administration' }
        const sent = request(`${service.url}/v1/keys/${path}`, { method, agent, headers }, (answer) => {
          let text = ''
          answer.setEncoding('utf8').on('data', (part: string) => (text += part))
          answer.on('end', () => resolve(JSON.parse(text) as Record<string, unknown>))
        })
        sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
      })
    const limits = (key: string): Promise<unknown[]> =>
      Promise.all(
        agents.map(async (agent) => ((await call(agent, 'GET', key))['overrides'] as { limit: number }[]).map(({ limit }) => limit)),
      )
    /** All workers have the limits once `change` has an answer; if that took the service's second, a busy worker may be late. */
    const limitsAfter = async <T>(change: () => Promise<T>, key: string, expected: unknown): Promise<T> => {
      const began = performance.now()
      const answer = await change()
      if (performance.now() - began < 900) expect([key, await limits(key)]).toEqual([key, expected])
      else await expect.poll(async () => [key, await limits(key)], { timeout: 10_000 }).toEqual([key, expected])
      return answer
    }
    const put = (agent: Agent, key: string, burst: number) => call(agent, 'PUT', `${key}/override`, { rule, rate: '1/h', burst })
    // Two connections that are opened one after the other belong to two workers.
    const [one, other] = agents
    for (const agent of agents) await call(agent, 'GET', 'first')
    for (let round = 0; round < 40; round += 1) {
      const key = `k${round}`
      const removed = (agent: Agent) => call(agent, 'DELETE', `${key}/override`)
      await limitsAfter(() => put(one, key, 7), key, [[7], [7]])
      await limitsAfter(() => put(other, key, 8), key, [[8], [8]])
      expect([key, await limitsAfter(() => removed(one), key, [[], []])]).toEqual([key, { withdrawn: 1 }])
      const same = expect.toSatisfy(([ofOne, ofOther]: unknown[][]) => ofOne?.length === 1 && ofOne[0] === ofOther?.[0])
      await limitsAfter(() => Promise.all([put(one, key, 7), put(other, key, 8)]), key, same)
      const counts = await limitsAfter(() => Promise.all(agents.map(removed)), key, [[], []])
      expect([key, counts.reduce((sum, { withdrawn }) => sum + Number(withdrawn), 0)]).toEqual([key, 1])
    }
  })
})

describe.skipIf(redis === undefined)('serve --workers, when it is stopped', () => {
  it('R15: resets no connection of callers that never pause', { timeout: 120_000 }, async () => {
    const file = policyFile(`version: 1\n${UNHURRIED}rules: [{ name: stop-${process.pid}, key: [], rate: 1/s, burst: 5 }]\n`)
    const stopped = await stopUnderLoad([file, '--workers', '3', '--store', redis as string], 16)
    // Twenty stops are counted by stop-workers.fault.test.ts.
    expect(Object.keys(stopped.failures)).toEqual(['ECONNREFUSED'])
    expect(stopped).toMatchObject({ refused: 0, code: 0 })
  })
})
