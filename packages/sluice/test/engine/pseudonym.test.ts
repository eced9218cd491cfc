import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/policy.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { CallGroup, Store } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { bench, facts } from './bench.ts'
import { remoteMemory } from '../remote-memory.ts'

const RULES = `
identifiers: { mode: hmac, secretFile: ./secret }
rules:
  - { name: a, key: ["header:x-key", "path:", "method:", "const:c", "host:"], rate: 1/s, burst: 3 }
  - { name: b, key: ["cookie:x-key", "ip:address"], rate: 1/s, burst: 9 }
overrides: [{ rule: a, key: [vip, /a, GET, c, null], rate: 1/s, burst: 50 }]
`
const keyed = (secret: string) => (text: string) => createHmac('sha256', secret).update(text).digest('base64url')

/** A memory store that remembers the keys of its calls. */
function listening(): { store: Store; keys: string[] } {
  const clock = manualClock()
  const store = memoryStore({ clock })
  const keys: string[] = []
  const decide = async (groups: readonly CallGroup[]): ReturnType<Store['decide']> => {
    keys.push(...groups.flatMap(({ calls }) => calls.map(({ id }) => id.key)))
    return store.decide(groups)
  }
  return { store: remoteMemory(store, { decide }), keys }
}

describe('pseudonyms', () => {
  it('replace in keys what identifies the caller, and nothing else; one text in two places has two', async () => {
    const { store, keys } = listening()
    const engine = createEngine({ policy: parsePolicy(`version: 1\n${RULES}`), store, clock: manualClock(), pseudonym: keyed('s') })
    await engine.decide(facts({ path: '/a', headers: { 'x-key': 'alice', cookie: 'x-key=alice', host: 'h' } }))
    expect(keys).toHaveLength(2)
    const [a = '', b = ''] = keys
    expect(a).toMatch(/^=[\w-]{43}:=\/a:=GET:=c:=h$/)
    expect(b).toMatch(/^=[\w-]{43}:=[\w-]{43}$/)
    expect(keys.join()).not.toMatch(/alice|192\.0\.2/)
    expect(a.slice(1, 44)).not.toBe(b.slice(1, 44))
  })

  it('are the same for the same client, other ones with another secret, and leave limits and overrides as they are', async () => {
    const { store, keys } = listening()
    const policy = parsePolicy(`version: 1\n${RULES}`)
    const engine = createEngine({ policy, store, clock: manualClock(), pseudonym: keyed('s') })
    const other = createEngine({ policy, store, clock: manualClock(), pseudonym: keyed('t') })
    const request = facts({ path: '/a', headers: { 'x-key': 'alice' } })
    await engine.decide(request)
    await engine.decide(request)
    await other.decide(request)
    expect(keys[0]).toBe(keys[2])
    expect(keys[4]).not.toBe(keys[0])
    expect((await engine.peek(facts({ path: '/a', headers: { 'x-key': 'vip' } }))).limits).toMatchObject([
      { name: 'a', limit: 50 },
      { name: 'b' },
    ])
    expect((await engine.decideKey({ key: 'alice', limit: 'a' })).limits[0]?.remaining).toBe(2)
  })

  it('are required by the policy: an engine without any refuses it, also later', () => {
    expect(() => bench(RULES)).toThrow(/the policy keeps identifiers as hmac: give pseudonym/)
    const { engine } = bench('rules: []')
    expect(() => engine.reload(parsePolicy(`version: 1\n${RULES}`))).toThrow(/give pseudonym/)
    expect(engine.policy.rules).toEqual([])
  })

  it.each([
    ['nothing', () => ''],
    ['one text for all', () => 'x'],
    [
      'another text each time',
      (
        (count: number) => (text: string) =>
          `${text}${(count += 1)}`
      )(0),
    ],
  ])('of %s are refused', (_, pseudonym) => {
    expect(() => bench(RULES, { pseudonym })).toThrow(/pseudonym must give the same text for the same text/)
  })
})
