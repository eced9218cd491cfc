import { describe, expect, it } from 'vitest'
import { functionNames, installedFunctions, named } from '../../../src/stores/postgres/functions.ts'
import { functions } from '../../../src/stores/postgres/programs.gen.ts'
import { sha256 } from '../../../src/keys/sha256.ts'

const changed = (name: string, to: string) =>
  functions.map((one) => (one.name === name ? { ...one, source: one.source.replace('$$;', `${to} $$;`) } : one))

describe('names of the functions', () => {
  it('carry a hash of the text as it is installed, and of what it calls', () => {
    const names = functionNames('sluice')
    for (const { name, hash, source } of functions) {
      const others = new Map([...names].filter(([other]) => other !== name))
      expect([name, hash]).toEqual([name, sha256(named(source, 'sluice', others), 1)])
      expect(names.get(name)).toBe(`sluice_${name}_${hash}`)
    }
  })

  it('change with the text, those of its callers too, and no others', () => {
    const before = functionNames('own')
    const after = functionNames('own', changed('adopt_bucket', '-- edited'))
    const others = [...before.keys()].filter((name) => before.get(name) !== after.get(name)).sort()
    expect(others).toEqual(['adjust', 'adopt', 'adopt_bucket', 'bucket', 'buckets', 'consume', 'reserve', 'settle', 'settle_part'])
  })

  it.each(['sluice', 'sluice_x', 'x'])('are those of the tables %s alone', (table) => {
    const installed = installedFunctions(table)
    const known = new Set(installed.map(({ name }) => name))
    for (const { name, create } of installed) {
      expect(create.startsWith(`create function ${name}(`)).toBe(true)
      const said = [...create.matchAll(/\b(\w+_[0-9a-f]{8})\(/g)].map(([, called]) => called as string)
      expect(said.filter((called) => !known.has(called))).toEqual([])
      const tables = [...create.matchAll(new RegExp(`\\b${table}_(state|plan|log)\\b`, 'g'))].length
      expect(
        [...create.matchAll(/\b\w+_(state|plan|log)\b/g)].filter(([word]) => word !== 'own_state' && word !== 'force_generic_plan'),
      ).toHaveLength(tables)
    }
  })
})
