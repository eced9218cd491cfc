import { afterAll, beforeEach, describe, expect } from 'vitest'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Call, CallGroup, GroupVerdict } from '../../src/stores/store.ts'
import { benchOf } from '../../src/testing/store-suite/bench.ts'
import { groupsOf } from '../../src/testing/store-suite/groups.ts'

const KEYS = 'keeps keys apart that look alike'
const GROUPS = 'admits exactly the limit to many groups at once, and charges nothing of those that it denies'

type Wrong = Omit<MemoryStore, 'decideNow'>

/** Decides a group of several calls by what it has read a moment earlier. */
function readsThenWrites(): Wrong {
  const { decideNow: _, ...store } = memoryStore()
  return {
    ...store,
    capabilities: { ...store.capabilities, sync: false },
    async decide(groups, options) {
      const [group] = groups
      if (groups.length !== 1 || group?.calls.length === 1 || options?.charge === false) return store.decide(groups, options)
      const [read] = await store.decide(groups, { ...options, charge: false })
      await new Promise((resolve) => void setImmediate(resolve))
      const [written] = await store.decide(groups, options)
      return [(read?.outcome === 'allowed' && written?.outcome === 'denied' ? read : written) as GroupVerdict]
    },
  }
}

/** Changes are not mapped, because the tests change only keys that stay as they are. */
function withKeys(keyOf: (key: string) => string): Wrong {
  const { decideNow: _, ...store } = memoryStore()
  const callOf = ({ id, ...call }: Call): Call => ({ ...call, id: { scope: id.scope, key: keyOf(id.key) } })
  const groupOf = (group: CallGroup): CallGroup => ({ ...group, calls: group.calls.map(callOf) })
  return { ...store, decide: (groups, options) => store.decide(groups.map(groupOf), options) }
}

/** Each is right, but for what one test of the suite must find. */
const WRONG: readonly [name: string, store: Wrong, failing: string][] = [
  ['reads, then writes', readsThenWrites(), GROUPS],
  ['cuts keys at 64 characters', withKeys((key) => key.slice(0, 64)), KEYS],
  ['trims keys', withKeys((key) => key.trimEnd()), KEYS],
  ['replaces what is not ASCII', withKeys((key) => key.replaceAll(/[^\0-\u007f]/g, '?')), KEYS],
  ['normalizes keys', withKeys((key) => key.normalize()), KEYS],
  ['cuts keys at NUL', withKeys((key) => key.split('\0')[0] as string), KEYS],
]

describe.each(WRONG)('the store suite finds a store that %s', (_name, store, failing) => {
  const found: string[] = []
  beforeEach(({ task }) => {
    const fails = task.name === failing
    Object.assign(task, { fails })
    if (fails) found.push(task.name)
  })
  afterAll(() => expect(found).toEqual([failing]))
  groupsOf(benchOf({ open: async () => store, readState: async (id) => store.stateOf(id), differentialCalls: 1_000 }, () => store))
})
