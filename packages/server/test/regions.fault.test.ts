import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '@sluice/scripts/engines'
import { expect, it } from 'vitest'
import { openFaultProxy } from '../src/commands/verify/fault-proxy.ts'
import { type RunningProcess, serveBuilt } from './command.ts'
import { overOf } from './over.ts'
import { policyFiles } from './policy-file.ts'

const file = policyFiles()
const [RATE, BURST] = [100, 100]
const POLICY = `version: 1\nrules: [{ name: user, key: ["header:x-user"], rate: ${RATE}/s, burst: ${BURST} }]\n`
const KEY = 'a-key-of-regions-of-32-characters-or-more'
const CALLS_AT_ONCE = 4

it('regions: two services share a limit over HTTP: units move, links are cut and healed, one is killed: 0 over', async () => {
  const ports = { eu: await freePort(), us: await freePort() }
  const names = ['eu', 'us'] as const
  type Name = (typeof names)[number]
  const links = {
    eu: await openFaultProxy({ host: '127.0.0.1', port: ports.eu }),
    us: await openFaultProxy({ host: '127.0.0.1', port: ports.us }),
  }
  const [policy, key] = [file(POLICY), file(KEY)]
  const start = (self: Name): Promise<RunningProcess> => {
    const peer = self === 'eu' ? 'us' : 'eu'
    const peers = ['--peers', `${peer}=http://127.0.0.1:${links[peer].port}`, '--region-key-file', key]
    return serveBuilt([policy, '--listen', `127.0.0.1:${ports[self]}`, '--region', self, ...peers])
  }
  const services = { eu: await start('eu'), us: await start('us') }
  const passed: [number, number][] = []
  const check = async (name: Name): Promise<boolean> => {
    const sent = performance.now()
    const body = JSON.stringify({ key: 'ada', limit: 'user' })
    const answer = await fetch(`${services[name].url}/v1/check`, { method: 'POST', body }).catch(() => undefined)
    const { outcome } = ((await answer?.json().catch(() => undefined)) ?? {}) as { outcome?: string }
    if (outcome === 'allowed') passed.push([sent, performance.now()])
    return outcome === 'allowed'
  }
  /** Calls regions as fast as they answer, until something is true. */
  const load = async (regions: readonly Name[], until: () => Promise<boolean>): Promise<void> => {
    const ending = new AbortController()
    const callers = regions.flatMap((name) =>
      Array.from({ length: CALLS_AT_ONCE }, async () => {
        while (!ending.signal.aborted) if (!(await check(name))) await pause(3)
      }),
    )
    for (let waited = 0; !(await until()); waited += 1) {
      expect(waited, `${services.eu.output()}\n${services.us.output()}`).toBeLessThan(300)
      await pause(200)
    }
    ending.abort()
    await Promise.all(callers)
  }
  const metric = async (name: Name, metrics: string): Promise<number> => {
    const text = await (await fetch(`${services[name].url}/metrics`)).text()
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${metrics} `))
        ?.split(' ')[1],
    )
  }
  const received = (name: Name): Promise<number> => metric(name, 'sluice_region_units_total{direction="received"}')
  const isOpen = async (): Promise<boolean> =>
    (await Promise.all(names.map((name) => metric(name, 'sluice_region_phase')))).every((phase) => phase === 0)
  const soon = (ms: number): (() => Promise<boolean>) => {
    const end = performance.now() + ms
    return async () => performance.now() > end
  }
  try {
    await load(names, isOpen)
    await load(['eu'], async () => (await received('eu')) >= 400)
    await load(['us'], async () => (await received('us')) >= 800)
    for (const name of names) links[name].set({ passes: 'no-connection' })
    await load(names, soon(3_000))
    links.eu.set({ passes: 'all', delayMs: 50 })
    await load(names, soon(2_000))
    links.us.set({ passes: 'nothing' })
    await load(['eu'], soon(2_000))
    for (const name of names) links[name].set({ passes: 'all', delayMs: 20 })
    const before = await received('eu')
    await load(['eu'], async () => (await received('eu')) > before)
    await services.us.stop('SIGKILL')
    await load(['eu'], soon(2_000))
    services.us = await start('us')
    await load(names, isOpen)
    await load(names, soon(3_000))
    expect(overOf(passed, RATE, BURST)).toBeLessThanOrEqual(0)
    // The audit would be empty if nothing had passed.
    expect(passed.length).toBeGreaterThan(5 * RATE)
    expect(services.eu.output()).toContain('region us cannot be read')
    expect(services.eu.output()).toContain('region us can be read again')
  } finally {
    await Promise.all(names.map((name) => services[name].stop('SIGTERM')))
    await Promise.all(names.map((name) => links[name].close()))
  }
}, 120_000)
