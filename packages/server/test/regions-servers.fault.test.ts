import { setTimeout as pause } from 'node:timers/promises'
import { type Engine, findPostgres, findRedis, freePort, startPostgres, startRedis } from '@sluice/scripts/engines'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { type RunningProcess, serveBuilt } from './command.ts'
import { overOf } from './over.ts'
import { policyFiles } from './policy-file.ts'

const file = policyFiles()
const engines = inject('engines')
const redis = engines.redis === undefined ? { missing: 'no engine' } : findRedis()
const postgres = engines.postgres === undefined ? { missing: 'no engine' } : findPostgres()
const SERVERS = [
  ['Redis', redis, startRedis],
  ['PostgreSQL', postgres, startPostgres],
] as const
const [RATE, BURST] = [100, 100]
const POLICY = `version: 1\nrules: [{ name: user, key: ["header:x-user"], rate: ${RATE}/s, burst: ${BURST} }]\n`
const KEY = 'a-key-of-regions-of-32-characters-or-more'

describe.each(SERVERS)('regions over %s', (_name, found, startServer) => {
  it.skipIf('missing' in found)(
    'share a limit; a restarted service goes on; the callers of all services count: 0 over',
    async () => {
      const begin = (): Promise<Engine> => startServer('path' in found ? found.path : '')
      const [eu, us] = [await begin(), await begin()]
      onTestFinished(async () => void (await Promise.all([eu.stop(), us.stop()])))
      const ports = { eu: await freePort(), euToo: await freePort(), us: await freePort() }
      const [policy, key] = [file(POLICY), file(KEY)]
      const start = (name: keyof typeof ports): Promise<RunningProcess> => {
        const [self, store] = name === 'us' ? ['us', us.url] : ['eu', eu.url]
        const peer = self === 'eu' ? 'us' : 'eu'
        const regions = ['--region', self, '--peers', `${peer}=http://127.0.0.1:${ports[peer]}`, '--region-key-file', key]
        return serveBuilt([policy, '--listen', `127.0.0.1:${ports[name]}`, '--store', store, ...regions])
      }
      const services = { eu: await start('eu'), euToo: await start('euToo'), us: await start('us') }
      onTestFinished(async () => void (await Promise.all(Object.values(services).map((service) => service.stop('SIGTERM')))))
      const passed: (readonly [number, number])[] = []
      const check = async (name: keyof typeof ports): Promise<boolean> => {
        const sent = performance.now()
        const body = JSON.stringify({ key: 'ada', limit: 'user', cost: 5 })
        const answer = await fetch(`${services[name].url}/v1/check`, { method: 'POST', body }).catch(() => undefined)
        const { outcome } = ((await answer?.json().catch(() => undefined)) ?? {}) as { outcome?: string }
        if (outcome !== 'allowed') return false
        // Each call takes five tokens.
        const answered = performance.now()
        for (let token = 0; token < 5; token += 1) passed.push([sent, answered])
        return true
      }
      const metric = async (name: keyof typeof ports, metrics: string): Promise<number> => {
        const text = await (await fetch(`${services[name].url}/metrics`)).text()
        const line = text.split('\n').find((one) => one.startsWith(`${metrics} `))
        return Number(line?.split(' ')[1])
      }
      const isOpen = async (...names: (keyof typeof ports)[]): Promise<void> =>
        vi.waitFor(
          async () => expect(await Promise.all(names.map((name) => metric(name, 'sluice_region_phase')))).toEqual(names.map(() => 0)),
          { timeout: 20_000 },
        )
      const received = async (): Promise<number> => {
        const name = 'sluice_region_units_total{direction="received"}'
        return (await metric('eu', name)) + (await metric('euToo', name))
      }
      /** Calls a service, one call after the other, until `until` returns true. */
      const load = async (name: keyof typeof ports, until: () => Promise<boolean>): Promise<void> => {
        for (let calls = 0; calls % 20 !== 0 || !(await until()); calls += 1) {
          expect(calls, `${services.eu.output()}\n${services.us.output()}`).toBeLessThan(10_000)
          if (!(await check(name))) await pause(3)
        }
      }

      await isOpen('eu', 'euToo', 'us')
      // Region eu has two services, and only the second one has callers. The other region sends parts of the limit all the same.
      await load('euToo', async () => (await received()) >= 400)
      const era = await metric('eu', 'sluice_region_era')
      await services.eu.stop('SIGKILL')
      const before = passed.length
      const missed = 'region eu cannot be read'
      await load('euToo', async () => passed.length > before + 50 && services.us.output().includes(missed))
      services.eu = await start('eu')
      await isOpen('eu')
      expect(await metric('eu', 'sluice_region_era')).toBe(era)
      // The tokens of region eu are in its Redis, and they are more than the half with which it began. So the restarted service can grant
      // them.
      const again = passed.length
      await load('eu', async () => passed.length > again + 50)
      expect(overOf(passed, RATE, BURST)).toBeLessThanOrEqual(0)
    },
    120_000,
  )
})
