import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..', 'packages', 'sluice')
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { node: string; default: string }>
}
const doors = Object.entries(exports).flatMap(([subpath, entry]) => (typeof entry === 'string' ? [] : [{ subpath, ...entry }]))
const load = async (file: string): Promise<Record<string, unknown>> => (await import(join(root, file))) as Record<string, unknown>

/** A file of the bundle and all that it loads, by their names in the bundle. */
function loadedBy(file: string, known: Set<string> = new Set()): Set<string> {
  if (known.has(file)) return known
  known.add(file)
  for (const [, from] of readFileSync(file, 'utf8').matchAll(/^(?:import|export) .*?"(\.[^"]*)";$/gms))
    loadedBy(join(dirname(file), from as string), known)
  return known
}

describe('the bundle for Node', () => {
  // The kit declares tests when it is loaded in a test.
  it.each(doors.filter(({ subpath }) => subpath !== './testing'))('has the exports of $subpath', async ({ node, default: module }) => {
    expect(Object.keys(await load(node)).sort()).toEqual(Object.keys(await load(module)).sort())
  })

  it('has one of each class, whichever subpath it comes from', async () => {
    const { createLimiter, LimiterError } = await load('bundle/index.js')
    const { parsePolicy } = await load('bundle/policy.js')
    const { postgresStore } = await load('bundle/postgres.js')
    for (const wrong of [createLimiter, parsePolicy, postgresStore] as ((value: unknown) => unknown)[])
      expect(() => wrong({})).toThrow(LimiterError as new () => Error)
  })

  it.each([
    ['index', ['core', 'index']],
    ['pacing', ['core', 'pacing']],
    ['redis', ['core', 'redis', 'ring']],
  ])('loads for %s only %s', (subpath, files) => {
    const loaded = loadedBy(join(root, 'bundle', `${subpath}.js`))
    expect([...loaded].sort()).toEqual(files.map((file) => join(root, 'bundle', `${file}.js`)))
  })

  it('loads neither a program of a server nor the ring for sluice', () => {
    const text = [...loadedBy(join(root, 'bundle', 'index.js'))].map((file) => readFileSync(file, 'utf8')).join('')
    expect(text).not.toMatch(/redis\.call|lock_timeout|class Batcher/)
  })

  it.each(['core', 'ring'])('makes no object of the exports of a module in %s', (file) => {
    expect(readFileSync(join(root, 'bundle', `${file}.js`), 'utf8')).not.toContain('__export(')
  })

  it('names no path of the machine that made it', () => {
    for (const { node } of doors) expect(readFileSync(join(root, node), 'utf8')).not.toContain(root)
  })
})
