import { setTimeout as later } from 'node:timers/promises'
import { type Engines, enginesOf, MissingEngine } from './engines.ts'
import { disturbanceMeter, disturbedBy } from './machine/disturbance.ts'
import { thisMachine } from './machine/machine.ts'
import { messageOf } from './message.ts'
import type { Part, PartOptions, PartResult } from './part.ts'
import { markOf } from './result/reading.ts'
import type { Depth, PartResults, SuiteResults } from './result/suite-result.ts'
import type { Suite } from './suites/suite.ts'
import { undosOf } from './undos.ts'

/** If the run is interrupted within this many milliseconds after an error, the interruption is taken for the cause of the error. */
const SIGNAL_MS = 50

export interface RunOptions extends Pick<PartOptions, 'say' | 'atEnd'> {
  readonly depth: Depth
  /** Replaces the suite's own seconds of a comparison. */
  readonly seconds?: number
  /** Names of the parts to measure; default all. */
  readonly parts?: readonly string[] | undefined
  /** Receives the results of each part when it has ended, so that a run that ends early keeps them. */
  readonly onPart: (results: SuiteResults) => void
  /** Aborted if the run is interrupted. A part that fails from then on did so because its servers were stopped. */
  readonly signal: AbortSignal
}

export interface SuiteRun {
  readonly results: SuiteResults
  /** Why parts were not measured. */
  readonly errors: readonly Error[]
}

/** Measures the parts of a suite, one after the other. A part that fails has a reading that is absent, with the reason. */
export async function runSuite(suite: Suite, options: RunOptions): Promise<SuiteRun> {
  const { name, title, document, postgres } = suite
  const { depth, seconds = suite.seconds[depth], parts, say, atEnd, onPart, signal } = options
  const engines = enginesOf({ atEnd, ...(postgres === undefined ? {} : { postgres }) })
  const resultsOf = (some: readonly PartResults[]): SuiteResults => {
    return { format: 1, suite: name, title, ...(document === undefined ? {} : { document }), parts: some }
  }
  const measured: PartResults[] = []
  const errors: Error[] = []
  for (const part of suite.parts) {
    if (!isChosen(part, { parts, depth })) continue
    const sayOfPart = (line: string): void => say(`${name} ${part.name}: ${line}`)
    const { results, error } = await runPart(part, { seconds, depth, say: sayOfPart, atEnd, engines }, engines)
    // Ctrl-C reaches the servers too, so their errors may be seen before the signal.
    if (error !== undefined) await later(SIGNAL_MS)
    if (signal.aborted) break
    if (error !== undefined) {
      sayOfPart(`not measured: ${messageOf(error)}`)
      // Parts that share a failed server fail with the same error.
      if (!(error instanceof MissingEngine || errors.includes(error))) console.error(error)
      errors.push(error)
    }
    measured.push(results)
    onPart(resultsOf([results]))
  }
  return { results: resultsOf(measured), errors }
}

/** Whether a run measures a part: if parts are named, only those, otherwise all parts of the run's depth. */
export function isChosen({ name, fullOnly }: Part, { parts, depth }: Pick<RunOptions, 'parts' | 'depth'>): boolean {
  return parts?.includes(name) ?? (depth === 'full' || fullOnly !== true)
}

interface PartRun {
  readonly results: PartResults
  readonly error?: Error
}

async function runPart(part: Part, options: PartOptions, engines: Engines): Promise<PartRun> {
  const { name, title } = part
  const machine = thisMachine()
  const began = new Date().toISOString()
  const started = performance.now()
  const meter = disturbanceMeter()
  meter.begin()
  const { found, error } = await outcomeOf(part, options)
  meter.end()
  const { readings = [], tables = [], plots = [], notes = [], figures } = found
  const results: PartResults = {
    name,
    title,
    began,
    took: Math.round((performance.now() - started) / 1_000),
    seconds: options.seconds,
    depth: options.depth,
    machine,
    servers: engines.used(),
    ...disturbedBy(meter),
    readings: readings.map((reading) => ({ ...reading, mark: markOf(reading) })),
    tables,
    plots,
    notes,
    ...(figures === undefined ? {} : { figures }),
  }
  return { results, ...(error === undefined ? {} : { error }) }
}

/**
 * Runs a part, and then ends the processes that it left. The processes of a failed part would otherwise use the processors during the next
 * part.
 */
async function outcomeOf({ name, run }: Part, options: PartOptions): Promise<{ readonly found: PartResult; readonly error?: Error }> {
  const undos = undosOf()
  options.atEnd(undos.run)
  try {
    return { found: await run({ ...options, atEnd: undos.add }) }
  } catch (caught) {
    const error = caught instanceof Error ? caught : new Error(String(caught))
    return { found: { readings: [{ name, absent: messageOf(error) }] }, error }
  } finally {
    await undos.run()
  }
}
