import { findPostgres } from '@sluice/scripts/engines'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectInTime } from '../../faults/in-time.ts'
import { noPostgres } from '../../faults/private-postgres.ts'
import { noRedis, redisProgram } from '../../faults/private-redis.ts'
import { auditAll } from './record.ts'
import { run, textOf } from './run.ts'

const [SECONDS, SEED] = [3, 1]

describe.skipIf(noRedis || noPostgres)('npm run regions', () => {
  it('regions R3 to R7: four regions over Redis and PostgreSQL; one is lost, one restored, one fails over: 0 over', async () => {
    const stops: (() => Promise<void>)[] = []
    onTestFinished(async () => {
      for (const stop of stops.toReversed()) await stop()
    })
    const found = findPostgres()
    const postgres = 'path' in found ? found.path : ''
    const record = await run({ seconds: SECONDS, seed: SEED, periodMs: 200, redis: redisProgram(), postgres, stops })
    console.log(textOf(record))
    expect(record.problems).toEqual([])
    // The audits notice calls that pass several times.
    const { passed } = record.load
    const copies = Array.from({ length: 9 }, () => passed).flat()
    for (const copy of copies) passed.push(copy)
    auditAll(record)
    expect(record.problems[0]).toMatch(/^all regions together were \d+(?:\.\d+)? tokens over$/)
    expectInTime('the number of what took too long', record.late.length, 0)
  }, 240_000)
})
