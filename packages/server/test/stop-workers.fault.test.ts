import { describe, expect, inject, it } from 'vitest'
import { policyFiles } from './policy-file.ts'
import { stopUnderLoad } from './stop-workers.ts'

const { redis } = inject('engines')
const policyFile = policyFiles()
const STOPS = 20
describe.skipIf(redis === undefined)('R15: three workers that are stopped under load', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('reset no connection in 20 stops by %s', { timeout: 600_000 }, async (signal) => {
    // Answers must not depend on what else the machine does.
    const file = policyFile('version: 1\nfailure: { deadline: 20s }\nrules: [{ name: a, key: [], rate: 1/s, burst: 5 }]\n')
    let [answers, refused, resets] = [0, 0, 0]
    const how: Record<string, number> = {}
    for (let stop = 0; stop < STOPS; stop += 1) {
      const stopped = await stopUnderLoad([file, '--workers', '3', '--store', redis as string], 16, signal)
      answers += stopped.answers
      refused += stopped.refused
      for (const [code, count] of Object.entries(stopped.failures)) {
        if (code === 'ECONNREFUSED') continue
        resets += count
        how[code] = (how[code] ?? 0) + count
      }
      expect(stopped.code).toBe(0)
    }
    process.stdout.write(`${STOPS} stops of 3 workers by ${signal}: ${answers} answers, ${refused} not 200, ${resets} connections reset\n`)
    expect(refused).toBe(0)
    expect(how).toEqual({})
  })
})
