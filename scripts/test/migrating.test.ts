import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(ROOT, 'docs', 'migrating.md'), 'utf8')
const installed = (file: string): string => readFileSync(join(ROOT, 'node_modules', file), 'utf8')

/** The names of the members between a declaration and the line that ends it. */
function membersOf(text: string, declaration: string, end: string): string[] {
  const from = text.indexOf(declaration)
  if (from === -1) throw new Error(`no ${declaration} in the types`)
  return [...text.slice(from, text.indexOf(end, from)).matchAll(/^\s+(\w+)\??:/gm)].map(([, name]) => name as string)
}

const flexible = (): string[] => {
  const text = installed('rate-limiter-flexible/types.d.ts')
  const kinds = ['IRateLimiterOptions', 'IRateLimiterStoreOptions', 'IRateLimiterRedisOptions', 'IRateLimiterPostgresOptions']
  return [...kinds, 'IRateLimiterStoreNoAutoExpiryOptions'].flatMap((kind) => membersOf(text, `interface ${kind} `, '\n}'))
}

const LIBRARIES: readonly (readonly [string, () => readonly string[]])[] = [
  ['express-rate-limit', () => membersOf(installed('express-rate-limit/dist/index.d.ts'), 'export type Options = {', '\n};')],
  [
    '@fastify/rate-limit',
    () => [...installed('@fastify/rate-limit/index.js').matchAll(/settings\.(\w+)/g)].map(([, name]) => name as string),
  ],
  ['rate-limiter-flexible', flexible],
  ['@upstash/ratelimit', () => membersOf(installed('@upstash/ratelimit/dist/index.d.ts'), 'type RegionRatelimitConfig = {', '\n};')],
]

describe.each(LIBRARIES)('docs/migrating.md, from %s', (name, optionsOf) => {
  const part = page.slice(page.indexOf(`## From ${name}\n`)).split(/\n(?=## )/)[0] as string

  it('has a row for each option that the installed version knows', () => {
    const named = new Set(
      [...part.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell]) => [...(cell as string).matchAll(/`(\w+)/g)].map(([, one]) => one)),
    )
    const options = optionsOf()
    expect(options.length).toBeGreaterThan(8)
    expect(options.filter((option) => !named.has(option))).toEqual([])
  })

  it('is about the installed version', () => {
    const { version } = JSON.parse(installed(`${name}/package.json`)) as { version: string }
    const [major, minor] = version.split('.')
    expect(page.slice(0, page.indexOf('\n## '))).toMatch(new RegExp(`${name.replace('/', '\\/')}\\s+${major}\\.${minor}[^0-9]`))
  })
})
