import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..', 'packages', 'sluice')
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { node: string; default: string }>
}
const doors = Object.entries(exports).flatMap(([subpath, entry]) => (typeof entry === 'string' ? [] : [{ subpath, ...entry }]))
const load = async (file: string): Promise<Record<string, unknown>> => (await import(join(root, file))) as Record<string, unknown>

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

  it('names no path of the machine that made it', () => {
    for (const { node } of doors) expect(readFileSync(join(root, node), 'utf8')).not.toContain(root)
  })
})
