import { readFileSync } from 'node:fs'
import type { Quota } from '../contestants/contestant.ts'
import { quantileOf, sorted } from '../result/statistics.ts'
import type { ColdInput, ColdSample, ColdWay } from './sample.ts'

/** Measures the limiter that is named on stdin, from its first import to its last request. The process has imported nothing else. */
interface Cold {
  readonly name: string
  /** Opens the limiter, so that it is ready for its first request. */
  open(): Promise<{ invoke(key: string): Promise<unknown>; passed(answer: unknown): boolean; close(): Promise<void> }>
}

/** A quota so large that no request is denied. */
const QUOTA: Quota = { tokens: 1_000_000, per: '1s', burst: 10_000_000 }
/** The number of users that take turns. */
const USERS = 100
const CONNECTIONS = 4

const { engine, way, url, space, calls } = JSON.parse(readFileSync(0, 'utf8')) as ColdInput

const atStart = process.cpuUsage()
const cold = engine === 'redis' ? await redis(way) : await postgres(way)
const imported = process.cpuUsage(atStart)
const beforeOpen = process.cpuUsage()
const running = await cold.open()
const opened = process.cpuUsage(beforeOpen)

const keys = Array.from({ length: USERS }, (_, user) => `${space}:user:${10_000 + user}`)
const latencies = new Float64Array(calls)
let [refused, undecided] = [0, 0]
const beforeCalls = process.cpuUsage()
for (let call = 0; call < calls; call += 1) {
  const started = performance.now()
  try {
    if (!running.passed(await running.invoke(keys[call % USERS] as string))) refused += 1
  } catch {
    undecided += 1
  }
  latencies[call] = (performance.now() - started) * 1_000
}
const called = process.cpuUsage(beforeCalls)

const first = latencies[0] ?? Number.NaN
const all = sorted(latencies)
const sample: ColdSample = {
  name: cold.name,
  cpu: { imported: sum(imported), opened: sum(opened), called: sum(called) },
  latency: { first, p50: quantileOf(all, 0.5), p99: quantileOf(all, 0.99) },
  refused,
  undecided,
}
process.stdout.write(JSON.stringify(sample))
await running.close()

async function redis(name: ColdWay): Promise<Cold> {
  const contestant = await contestantOf(name)
  return { name: contestant.name, open: () => openRedis(contestant) }
}

async function contestantOf(name: ColdWay) {
  switch (name) {
    case 'baseline':
      return (await import('../contestants/lua.ts')).lua
    case 'bare':
      return (await import('../contestants/sluice.ts')).sluiceWith('Sluice, bare', 'bare')
    case 'sluice':
      return (await import('../contestants/sluice.ts')).sluice
    case 'flexible':
      return (await import('../contestants/flexible.ts')).flexible
    case 'express-store':
      return (await import('../contestants/express-store.ts')).expressStore
  }
}

async function openRedis(contestant: Awaited<ReturnType<typeof contestantOf>>): ReturnType<Cold['open']> {
  const limiter = await contestant.open(url, QUOTA, { callers: 1 })
  return { invoke: (key) => limiter.invoke(key, 0), passed: (answer) => limiter.passed(answer), close: () => limiter.close([]) }
}

async function postgres(name: ColdWay): Promise<Cold> {
  const { poolAt } = await import('../postgres/pool.ts')
  const chosen = await postgresWayOf(name)
  return {
    name: chosen.name,
    open: async () => {
      const pool = poolAt(url, space, CONNECTIONS)
      const limiter = await chosen.open(pool, QUOTA)
      const close = async (): Promise<void> => {
        await limiter.close()
        await pool.end()
      }
      return { invoke: (key) => limiter.invoke(key), passed: (answer) => answer === true, close }
    },
  }
}

async function postgresWayOf(name: ColdWay) {
  switch (name) {
    case 'baseline':
      return (await import('../postgres/update.ts')).update
    case 'bare':
      return (await import('../postgres/sluice.ts')).bare
    case 'sluice':
      return (await import('../postgres/sluice.ts')).sluice
    case 'flexible':
      return (await import('../postgres/flexible.ts')).flexible
    case 'express-store':
      throw new Error('express-rate-limit has no store for PostgreSQL here')
  }
}

function sum({ user, system }: NodeJS.CpuUsage): number {
  return user + system
}
