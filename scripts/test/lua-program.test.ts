import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { asSent, shortNames } from '../src/lua-names.ts'
import { luaProgram, textOf } from '../src/lua-program.ts'
import { luaPrograms, readProgram } from '../src/programs.ts'

const FOLDER = 'lua'

function program(files: Readonly<Record<string, string>>): string {
  const parts = luaProgram(FOLDER, 'main.lua', (path) => {
    const text = Object.entries(files).find(([name]) => join(FOLDER, name) === path)?.[1]
    if (text === undefined) throw new Error(`no ${path}`)
    return text
  })
  return asSent(textOf(parts), new Map())
}

/** How often a text is in another. */
function count(text: string, part: string): number {
  return text.split(part).length - 1
}

describe('a Lua program', () => {
  it('is sent without comments, and with the blanks that keep tokens apart', () => {
    expect(program({ 'main.lua': '-- What it does.\n\nif KEYS[1] then\n  -- why\n  return 1 .. x - -y, not a\nend\n' })).toBe(
      'if KEYS[1]then\nreturn 1 ..x- -y,not a\nend\n',
    )
  })

  it('is sent with short names, the same for a name in every text; those of Lua and Redis stay', () => {
    const texts = ["local first = redis.call('GET', KEYS[1])\nreturn { first = first }\n", 'local last = table.first or string.len\n']
    const short = shortNames(texts)
    expect([...short]).toEqual([
      ['first', 'a'],
      ['last', 'b'],
      ['len', 'c'],
    ])
    expect(texts.map((text) => asSent(text, short))).toEqual([
      "local a=redis.call('GET',KEYS[1])\nreturn{a=a}\n",
      'local b=table.a or string.c\n',
    ])
    const many = shortNames([Array.from({ length: 2_500 }, (_, index) => `name${index}`).join(' ')])
    expect(new Set(many.values()).size).toBe(2_500)
    for (const taken of ['do', 'if', 'in', 'or']) expect([...many.values()]).not.toContain(taken)
  })

  it('has each included file once, before all that include it', () => {
    const text = program({
      'main.lua': '-- include: one.lua\n-- include: two.lua\n\nreturn one() + two()\n',
      'one.lua': '-- include: base.lua\n\nlocal function one()\n  return base\nend\n',
      'two.lua': '-- include: base.lua\n-- include: one.lua\n\nlocal function two()\n  return base + one()\nend\n',
      'base.lua': 'local base = 1\n',
    })
    expect(text).toBe(
      'local base=1\nlocal function one()\nreturn base\nend\nlocal function two()\nreturn base+one()\nend\nreturn one()+two()\n',
    )
  })

  it('has each file that is made once, as a branch of one function, however many make it', () => {
    const text = program({
      'main.lua': "local now = 1\n\n-- modules\n\nlocal one, two = make 'one', make('two', now)\nreturn one + two + make 'one'\n",
      'one.lua': "local base = make 'base'\n\nreturn base + 1\n",
      'two.lua': "local given = ...\nlocal base = make 'base'\n\nreturn base + given\n",
      'base.lua': 'local base = 10\n\nreturn base\n',
    })
    expect(count(text, 'local base=10')).toBe(1)
    expect(count(text, 'local function make(file,...)')).toBe(1)
    expect(text.indexOf('local now=1')).toBeLessThan(text.indexOf('local function make'))
    for (const name of ['one', 'two', 'base']) expect(count(text, `file=='${name}'then`)).toBe(1)
  })

  it.each<[what: string, files: Readonly<Record<string, string>>, message: string]>([
    [
      'an include in the middle of code',
      { 'main.lua': 'local a = 1\n-- include: one.lua\nreturn a\n', 'one.lua': 'local one = 1\n' },
      'main.lua:2: an include is at the top of its file, before all code',
    ],
    [
      'an include within a function',
      { 'main.lua': '  -- include: one.lua\nreturn 1\n', 'one.lua': 'local one = 1\n' },
      'main.lua:1: an include is at the top of its file, before all code',
    ],
    [
      'an included file that does something',
      { 'main.lua': '-- include: one.lua\nreturn 1\n', 'one.lua': "local one = 1\nredis.call('DEL', KEYS[1])\n" },
      "one.lua: an included file has nothing but local definitions at its top level, not: redis.call('DEL', KEYS[1])",
    ],
    [
      'a circle of includes',
      { 'main.lua': '-- include: one.lua\n', 'one.lua': '-- include: two.lua\n', 'two.lua': '-- include: one.lua\n' },
      'one.lua needs two.lua needs one.lua: a circle',
    ],
    [
      'a circle of files that are made',
      {
        'main.lua': "-- modules\nreturn make 'one'\n",
        'one.lua': "local two = make 'two'\nreturn two\n",
        'two.lua': "local one = make('one', 1)\nreturn one\n",
      },
      'one.lua needs two.lua needs one.lua: a circle',
    ],
    ['a program that makes itself', { 'main.lua': "-- modules\nreturn make 'main'\n" }, 'main.lua needs main.lua: a circle'],
    [
      'a file that is inlined twice',
      { 'main.lua': 'if a then\n  -- inline: one.lua\nelse\n  -- inline: one.lua\nend\n', 'one.lua': 'b = 1\n' },
      'main.lua: one.lua is inlined twice: make it a function',
    ],
    [
      'a file that is included and made',
      { 'main.lua': "-- include: one.lua\n-- modules\nreturn make 'one'\n", 'one.lua': 'local one = 1\n' },
      'main.lua: one.lua is made, and is in main.lua already',
    ],
    [
      'a file that is made and returns nothing',
      { 'main.lua': "-- modules\nreturn make 'one'\n", 'one.lua': 'local one = 1\n' },
      'one.lua: a file that is made ends with one "return", of what it defines',
    ],
    [
      'a file that is made and includes another',
      { 'main.lua': "-- modules\nreturn make 'one'\n", 'one.lua': '-- include: two.lua\nreturn two\n', 'two.lua': 'local two = 2\n' },
      'one.lua:1: a file that is made has no includes, it makes what it needs',
    ],
    [
      'a program without a place for what it makes',
      { 'main.lua': "return make 'one'\n", 'one.lua': 'return 1\n' },
      'main.lua: it makes one, and has no line "-- modules"',
    ],
    ['a place for nothing', { 'main.lua': '-- modules\nreturn 1\n' }, 'main.lua:1: "-- modules", and nothing is made'],
    ['a file that is not there', { 'main.lua': "-- modules\nreturn make 'one'\n" }, `no ${join(FOLDER, 'one.lua')}`],
  ])('refuses %s', (_, files, message) => {
    expect(() => program(files)).toThrow(message)
  })

  it('of the Redis store has every file once at most, and each file is in one of them', () => {
    const folder = join(import.meta.dirname, '..', '..', 'packages', 'sluice', 'src', 'stores', 'redis', 'lua')
    const reads = new Map<string, number>()
    const programs = luaPrograms(folder, (path) => {
      reads.set(path, (reads.get(path) ?? 0) + 1)
      return readProgram(path)
    })
    const plain = ['adjust', 'block', 'buckets', 'consume', 'holds', 'lease', 'release', 'reserve', 'salt', 'swap']
    const ofRegions = ['cells', 'digest', 'guard', 'needs', 'region']
    expect(programs.map(({ name }) => name)).toEqual([...plain, ...ofRegions].sort())
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.lua'))
    expect([...reads.keys()].sort()).toEqual(files.map((name) => join(folder, name)).sort())
    const counts = new Map<string, number>()
    for (const { parts } of programs) {
      const own = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.file]))
      expect(new Set(own).size).toBe(own.length)
      for (const file of own) counts.set(file, (counts.get(file) ?? 0) + 1)
    }
    for (const file of ['block-value.lua', 'bucket-flow.lua', 'bucket-value.lua']) expect(counts.get(file)).toBeGreaterThan(3)
  })
})
