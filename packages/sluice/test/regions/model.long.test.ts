import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import * as programs from '../../src/regions/rights/programs.ts'
import { type ModelState, replay, statesOf } from './model.ts'
import type { Programs } from './site.ts'
import { variantOf } from './variants.ts'
import { WRONG } from './wrong.ts'

/** Runs the model `regions.qnt` in Quint's simulator: `SEED=7 TRACES=400 npm run model`. */
const SEED = process.env['SEED'] ?? '1'
const TRACES = Number(process.env['TRACES'] ?? 30)
const MINUTES = 10 * 60_000

const QUINT = createRequire(import.meta.url).resolve('@informalsystems/quint/dist/src/cli.js')
const MODEL = join(import.meta.dirname, 'regions.qnt')
const folder = mkdtempSync(join(tmpdir(), 'sluice-model-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The rules that are broken in a trace of the module `wrong`. */
const FAULTS = [...(/module wrong \{(.*?)\n\}/su.exec(readFileSync(MODEL, 'utf8'))?.[1] ?? '').matchAll(/"(.+)"/gu)].map(
  ([, fault]) => fault,
)

describe('regions: the model', () => {
  it(
    `regions R3 to R6: ${TRACES} traces from seed ${SEED} keep the invariants, and the programs do the same`,
    async () => {
      const size = ['--max-samples', `${TRACES}`, '--n-traces', `${TRACES}`, '--max-steps', '60']
      const { ok, text } = await quint('run', 'right', [...size, '--invariants', 'holds', '--out-itf', join(folder, 'run_{seq}.itf.json')])
      expect({ ok, text }).toMatchObject({ ok: true })
      const traces = tracesOf('run_')
      expect(traces).toHaveLength(TRACES)
      for (const trace of traces) expectSame(trace)
      // In some trace an era began, and in some a store that was lost came back. Otherwise the replay would test little.
      expect(traces.some((trace) => trace.some(({ stores }) => [...stores.values()].every(({ era }) => Number(era) > 0)))).toBe(true)
      expect(
        traces.some((trace) => trace.some(({ stores }) => [...stores.values()].some(({ runId, fresh }) => runId !== 1 && fresh === false))),
      ).toBe(true)
      // Programs that are wrong differ from the model.
      for (const name of ['sums of rows are added', 'closing keeps what was received', 'tokens that were sent are kept'] as const) {
        const wrong = await variantOf(WRONG[name])
        expect({ name, differs: traces.some((trace) => differs(wrong, trace)) }).toEqual({ name, differs: true })
      }
    },
    MINUTES,
  )

  it(
    'regions R3 to R6: the programs do what the histories do that are written by hand',
    async () => {
      const { ok, text } = await quint('test', 'right', ['--max-samples', '1', '--out-itf', join(folder, 'test_{test}_{seq}.itf.json')])
      expect({ ok, text }).toMatchObject({ ok: true })
      const traces = tracesOf('test_')
      expect(traces).toHaveLength(3)
      for (const trace of traces) expectSame(trace)
    },
    MINUTES,
  )

  it(
    `regions R3 to R6: the invariants notice each broken rule in 300 traces`,
    async () => {
      const witnesses = FAULTS.map((fault) => `isNoticed("${fault}")`)
      const { text } = await quint('run', 'wrong', ['--max-samples', '300', '--max-steps', '40', '--witnesses', ...witnesses], '1')
      expect(witnesses.length).toBeGreaterThan(3)
      for (const witness of witnesses) expect(text).toMatch(new RegExp(`${witness.replace(/[()]/gu, '\\$&')} was witnessed in [1-9]`, 'u'))
      console.log(text)
    },
    MINUTES,
  )

  for (const [module, history, rule] of [
    ['keepsTokens', 'tokensAreSentOnceTest', 'R3: tokens that were sent are kept'],
    ['anyRun', 'rowOfLostStoresTest', 'R4: rows of any run are received'],
    ['looseHello', 'lateHelloTest', 'R6: a late hello of a dead run is applied'],
  ] as const) {
    it(
      `regions ${rule}: a history written by hand notices it in the model`,
      async () => {
        const { ok, text } = await quint('test', module, ['--max-samples', '1', '--match', history])
        expect({ ok, text }).toEqual({ ok: false, text: expect.stringContaining(`1) ${module}::regions::${history} failed`) as string })
      },
      MINUTES,
    )
  }
})

function expectSame(trace: readonly ModelState[]): void {
  const steps: string[] = []
  for (const { step, model, code } of replay(programs, trace)) {
    steps.push(JSON.stringify(step))
    expect({ steps, stores: code }).toEqual({ steps, stores: model })
  }
}

function differs(wrong: Programs, trace: readonly ModelState[]): boolean {
  for (const { model, code } of replay(wrong, trace)) if (JSON.stringify(code) !== JSON.stringify(model)) return true
  return false
}

function tracesOf(prefix: string): readonly (readonly ModelState[])[] {
  const files = readdirSync(folder).filter((name) => name.startsWith(prefix))
  return files.map((name) => statesOf(readFileSync(join(folder, name), 'utf8')))
}

/** The default backend would download a program. */
async function quint(
  command: 'run' | 'test',
  module: string,
  options: readonly string[],
  seed = SEED,
): Promise<{ ok: boolean; text: string }> {
  const fixed = [QUINT, command, MODEL, '--backend', 'typescript', '--main', module, '--seed', seed, '--verbosity', '1']
  return new Promise((resolve) => {
    execFile(process.execPath, [...fixed, ...options], { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ ok: error === null, text: stdout + stderr }),
    )
  })
}
