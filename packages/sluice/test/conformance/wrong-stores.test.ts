import { afterAll, beforeEach, describe, expect } from 'vitest'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Call, CallGroup, Change, GroupVerdict, StateId } from '../../src/stores/store.ts'
import { benchOf } from '../../src/testing/store-suite/bench.ts'
import { groupsOf } from '../../src/testing/store-suite/groups.ts'

const KEYS = 'keeps keys apart that look alike'
const GROUPS = 'admits exactly the limit to many groups at once, and charges nothing of those that it denies'

const LIMITERS = 'keeps limiters apart that look alike'

type Wrong = Omit<MemoryStore, 'decideNow'>

/** Calls that come together are decided by what was read before them. */
function readsThenWrites(isRaced: (groups: readonly CallGroup[]) => boolean): Wrong {
  const { decideNow: _, ...store } = memoryStore()
  let [begun, under] = [0, 0]
  return {
    ...store,
    capabilities: { ...store.capabilities, sync: false },
    async decide(groups, options) {
      if (!isRaced(groups) || options?.charge === false) return store.decide(groups, options)
      begun += 1
      under += 1
      const [mine, isFirst] = [begun, under === 1]
      const read = await store.decide(groups, { ...options, charge: false })
      await new Promise((resolve) => void setImmediate(resolve))
      const written = await store.decide(groups, options)
      under -= 1
      if (isFirst && begun === mine) return written
      return written.map((verdict, index) =>
        read[index]?.outcome === 'allowed' && verdict.outcome === 'denied' ? (read[index] as GroupVerdict) : verdict,
      )
    },
  }
}

type Mapped = (id: StateId) => StateId

function withIds(idOf: Mapped): Wrong {
  const { decideNow: _, ...store } = memoryStore()
  const callOf = (call: Call): Call => ({ ...call, id: idOf(call.id) })
  const groupOf = (group: CallGroup): CallGroup => ({ ...group, calls: group.calls.map(callOf) })
  const changeOf = (change: Change): Change =>
    'call' in change ? { ...change, call: callOf(change.call) } : { ...change, id: idOf(change.id) }
  return {
    ...store,
    decide: (groups, options) => store.decide(groups.map(groupOf), options),
    change: (changes, options) => store.change(changes.map(changeOf), options),
    stateOf: (id) => store.stateOf(idOf(id)),
  }
}

const withKeys = (keyOf: (key: string) => string): Wrong => withIds(({ scope, key }) => ({ scope, key: keyOf(key) }))
const withScopes = (textOf: (text: string) => string): Wrong => withIds(({ scope, key }) => ({ scope: { text: textOf(scope.text) }, key }))

/** Each is right, but for what one test of the suite must find. */
const WRONG: readonly [name: string, store: Wrong, failing: string][] = [
  ['reads, then writes, a group of several calls', readsThenWrites(([group]) => group !== undefined && group.calls.length > 1), GROUPS],
  ['reads, then writes, a list of groups', readsThenWrites(({ length }) => length > 1), GROUPS],
  ['does not tell limiters apart', withScopes((text) => text.split(':').slice(-2).join(':')), LIMITERS],
  ['does not tell upper from lower case of limiters', withScopes((text) => text.toLowerCase()), LIMITERS],
  ['cuts keys at 64 characters', withKeys((key) => key.slice(0, 64)), KEYS],
  ['trims keys', withKeys((key) => key.trimEnd()), KEYS],
  ['replaces what is not ASCII', withKeys((key) => key.replaceAll(/[^\0-\u007f]/g, '?')), KEYS],
  ['normalizes keys', withKeys((key) => key.normalize()), KEYS],
  ['keeps keys as Latin-1', withKeys((key) => Buffer.from(key, 'latin1').toString('latin1')), KEYS],
  ['keeps keys as UTF-8', withKeys((key) => Buffer.from(key).toString()), KEYS],
  ['trims the beginning of keys', withKeys((key) => key.trimStart()), KEYS],
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
