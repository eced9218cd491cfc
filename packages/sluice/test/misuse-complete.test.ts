import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ARGUMENTS as LIBRARY_ARGUMENTS } from './misuse-arguments.ts'
import { FUNCTIONS } from './misuse-functions.ts'
import { KIT_ARGUMENTS, KIT_OPTIONS } from './misuse-kit.ts'
import { OPTIONS as LIBRARY_OPTIONS, type OptionsRow } from './misuse-options.ts'
import { charges, complaint, engine, limiter, NONE, VALUES } from './misuse-values.ts'

/**
 * Misuses every function of every entry point, every verb and every option, with each kind of wrong value. A misuse passes if it ends in a
 * LimiterError that names the place, and no store was charged.
 */
const ARGUMENTS = [...LIBRARY_ARGUMENTS, ...KIT_ARGUMENTS]
const OPTIONS = [...LIBRARY_OPTIONS, ...KIT_OPTIONS]
let misuses = 0

/** Returns what went wrong. Undefined if the value is right and accepted, or if it is wrong, is reported, and charges nothing. */
async function fault(run: () => unknown, allowed: boolean, place: RegExp): Promise<string | undefined> {
  const before = charges()
  const why = await complaint(run, allowed, place)
  if (allowed) return why
  misuses += 1
  return why ?? (charges() === before ? undefined : 'reported, but charged')
}

/** A pattern for a field's name in a message. Some messages say `limit` for the field `limits`. */
const word = (name: string): string => name.replace(/^limits$/, 'limits?')

describe('U3: no argument is taken in silence or ends in a raw error', () => {
  it.each(ARGUMENTS)('%s, each argument with each kind of value', async (place, build, good, right) => {
    const found: string[] = []
    for (const [index] of good.entries()) {
      for (const [name, value] of VALUES) {
        const run = (): unknown => (build as (...given: unknown[]) => unknown)(...good.with(index, value))
        const why = await fault(run, (right[index] ?? NONE).includes(name), /expected|not a|write |is missing|give /)
        if (why !== undefined) found.push(`${place}, argument ${index} ${name}: ${why}`)
      }
    }
    expect(found).toEqual([])
  })
})

describe('U3: no option is taken in silence or ends in a raw error', () => {
  it.each(OPTIONS)('%s, each option with each kind of value', async (place, build, base, fields) => {
    const found: string[] = []
    for (const [field, right] of Object.entries(fields)) {
      for (const [name, value] of VALUES) {
        if (name === 'undefined') continue
        const run = (): unknown => (build as (options: object) => unknown)({ ...base, [field]: value })
        const why = await fault(run, right.includes(name), new RegExp(word(field), 'i'))
        if (why !== undefined) found.push(`${place}({ ${field}: ${name} }): ${why}`)
      }
    }
    expect(found).toEqual([])
  })

  it.each(OPTIONS)('%s, undefined for each option that may be absent', async (_place, build, base, fields) => {
    const absent = Object.fromEntries(Object.keys(fields).flatMap((field) => (field in base ? [] : [[field, undefined]])))
    const make = build as (options: object) => unknown
    expect(await outcomeOf(() => make({ ...base, ...absent }))).toBe(await outcomeOf(() => make(base)))
  })

  it.each(OPTIONS)('%s, an option that does not exist', async (_place, build, base) => {
    const known = await knownTo(build, base)
    expect(known, 'no error names the known options').toBeDefined()
  })
})

describe('U3: no function of the caller spoils a decision in silence', () => {
  it.each(FUNCTIONS)('what %s returns', async (place, call, right, later) => {
    const found: string[] = []
    for (const [name, value] of VALUES) {
      const now = await fault(() => call((() => value) as never), right.includes(name), new RegExp(place))
      if (now !== undefined) found.push(`returns ${name}: ${now}`)
      const then = await fault(() => call((async () => value) as never), later.includes(name), new RegExp(place))
      if (then !== undefined) found.push(`resolves with ${name}: ${then}`)
    }
    expect(found).toEqual([])
  })

  it.each(FUNCTIONS)('an error of %s reaches the caller as it is', async (_place, call) => {
    const error = new Error('of the program')
    const before = charges()
    const fail = (): never => {
      throw error
    }
    await expect((async () => call(fail as never))()).rejects.toBe(error)
    expect(charges()).toBe(before)
  })
})

/** The message of the error, or a text that says that nothing was thrown. */
async function outcomeOf(run: () => unknown): Promise<string> {
  try {
    await run()
    return 'no error'
  } catch (error) {
    return (error as Error).message
  }
}

/** Passes an unknown option. Returns the option names in the error message, or undefined if the place does not report unknown options. */
async function knownTo(build: OptionsRow[1], base: object): Promise<string | undefined> {
  const before = charges()
  misuses += 1
  try {
    await (build as (options: object) => unknown)({ ...base, misspelt: 1 })
  } catch (error) {
    expect(charges()).toBe(before)
    return /unknown option misspelt; known are (.*)$/.exec((error as Error).message)?.[1]
  }
  return undefined
}

/** They build what the library throws, and no program calls them. */
const ERRORS = ['LimiterError', 'PolicyError', 'StoreFailure', 'RateLimitException']
/** Nest calls them. */
const BY_NEST = ['RateLimitFilter', 'RateLimitDecision']
/** Classes of the testing kit, on a lower level than the limiter. Only tests of stores call them, with calls that the library has made. */
const KIT = ['Reference']
/** They take no argument. */
const BARE = ['ready', 'close', 'overrides']

describe('U3: the misuses are of everything that is exported', () => {
  const named = new Set([...ARGUMENTS, ...OPTIONS].map(([place]) => place.replace(/\(.*$|:.*$/, '')))

  it('every function of every entry point', async () => {
    const root = join(import.meta.dirname, '..')
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      exports: Record<string, { 'sluice-source'?: string }>
    }
    const missing: string[] = []
    for (const [subpath, { 'sluice-source': file }] of Object.entries(exports)) {
      if (file === undefined) continue
      const all = Object.entries((await import(join(root, file))) as object)
      const functions = all.filter(([name, value]) => typeof value === 'function' && ![...ERRORS, ...BY_NEST, ...KIT].includes(name))
      missing.push(...functions.filter(([name]) => !named.has(name)).map(([name]) => `${subpath} ${name}`))
    }
    expect(missing).toEqual([])
  })

  it('every verb of limiter and engine', () => {
    const verbs = (name: string, of: object): string[] =>
      Object.keys(of)
        .filter((verb) => typeof (of as Record<string, unknown>)[verb] === 'function' && !BARE.includes(verb))
        .map((verb) => `${name}.${verb}`)
    expect([...verbs('limiter', limiter), ...verbs('engine', engine)].filter((verb) => !named.has(verb))).toEqual([])
  })

  it('every option that is known', async () => {
    // Several rows may be of one function: their fields count together.
    const tried = new Map<string, { readonly place: string; readonly known: string; readonly fields: string[] }>()
    for (const [place, build, base, fields] of OPTIONS) {
      const known = (await knownTo(build, base)) ?? ''
      const at = `${place} ${known}`
      tried.set(at, { place, known, fields: [...(tried.get(at)?.fields ?? []), ...Object.keys(fields)] })
    }
    const missing = [...tried.values()].flatMap(({ place, known, fields }) =>
      known.split(', ').flatMap((name) => (fields.includes(name) ? [] : [`${place} ${name}`])),
    )
    expect(missing).toEqual([])
  })

  afterAll(() => {
    console.log(`${misuses} misuses: each reported by a LimiterError, none charged`)
    expect(misuses).toBeGreaterThan(84)
  })
})
