import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '@sluice/scripts/engines'
import { expect } from 'vitest'
import { type FaultProxy, openFaultProxy } from '../src/commands/verify/fault-proxy.ts'
import { type RunningProcess, serveBuilt } from './command.ts'

export type Name = 'eu' | 'us'
export const NAMES: readonly Name[] = ['eu', 'us']
const CALLS_AT_ONCE = 4

export interface TwoRegions {
  /** What stands between the other region and this one. */
  readonly links: Readonly<Record<Name, FaultProxy>>
  readonly services: Record<Name, RunningProcess>
  /** Calls that passed, with the times at which they were sent and answered, in milliseconds. */
  readonly passed: { readonly name: Name; readonly sent: number; readonly answered: number }[]
  /** Starts the service of a region again, and waits until it listens on its port. */
  restart(name: Name): Promise<void>
  /** Calls regions as fast as they answer, until something is true. */
  load(regions: readonly Name[], until: () => boolean | Promise<boolean>): Promise<void>
  metric(name: Name, metrics: string): Promise<number>
  isOpen(): Promise<boolean>
  stop(): Promise<void>
}

/**
 * Starts the services of two regions, each with a store in its memory. They read from each other through proxies that can cut the
 * connection.
 */
export async function startTwoRegions(policy: string, keyFile: string): Promise<TwoRegions> {
  const ports = { eu: await freePort(), us: await freePort() }
  const links = {
    eu: await openFaultProxy({ host: '127.0.0.1', port: ports.eu }),
    us: await openFaultProxy({ host: '127.0.0.1', port: ports.us }),
  }
  const start = (self: Name): Promise<RunningProcess> => {
    const peer = self === 'eu' ? 'us' : 'eu'
    const peers = ['--peers', `${peer}=http://127.0.0.1:${links[peer].port}`, '--region-key-file', keyFile]
    return serveBuilt([policy, '--listen', `127.0.0.1:${ports[self]}`, '--region', self, ...peers])
  }
  const services = { eu: await start('eu'), us: await start('us') }
  const passed: TwoRegions['passed'] = []
  const check = async (name: Name): Promise<boolean> => {
    const sent = performance.now()
    const body = JSON.stringify({ key: 'ada', limit: 'user' })
    const answer = await fetch(`${services[name].url}/v1/check`, { method: 'POST', body }).catch(() => undefined)
    const { outcome } = ((await answer?.json().catch(() => undefined)) ?? {}) as { outcome?: string }
    if (outcome === 'allowed') passed.push({ name, sent, answered: performance.now() })
    return outcome === 'allowed'
  }
  const metric = async (name: Name, metrics: string): Promise<number> => {
    const text = await (await fetch(`${services[name].url}/metrics`)).text()
    const line = text.split('\n').find((one) => one.startsWith(`${metrics} `))
    return Number(line?.split(' ')[1])
  }
  return {
    links,
    services,
    passed,
    metric,
    restart: async (name) => void (services[name] = await start(name)),
    load: async (regions, until) => {
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
    },
    isOpen: async () => (await Promise.all(NAMES.map((name) => metric(name, 'sluice_region_phase')))).every((phase) => phase === 0),
    stop: async () => {
      await Promise.all(NAMES.map((name) => services[name].stop('SIGTERM')))
      await Promise.all(NAMES.map((name) => links[name].close()))
    },
  }
}

/** Becomes true after so many milliseconds. */
export function soon(ms: number): () => boolean {
  const end = performance.now() + ms
  return () => performance.now() > end
}
