import { memoryStore, type Store, StoreFailure } from 'sluice'
import { createEngine, type EngineDecision, parsePolicy } from 'sluice/policy'
import { describe, expect, it } from 'vitest'
import { decisionJson } from '../src/endpoints/decision-json.ts'

const POLICY = (failure: string) => `
version: 1
failure: { policy: ${failure} }
rules:
  - { name: 'na/me:&<>', key: [ip:address], rate: 1/h, burst: 3 }
  - { name: second, match: { path: /two }, key: [], rate: 7/s, burst: 100.5 }
  - { name: quiet, match: { path: /two }, key: [], rate: 1/h, burst: 1, mode: shadow }
`
const { decideNow: _, ...memory } = memoryStore()
const gone: Store = {
  ...memory,
  capabilities: { ...memory.capabilities, sync: false },
  decide: async () => {
    throw new StoreFailure('timeout', 'unknown', 'a "quoted" reason')
  },
}

async function decisions(): Promise<EngineDecision[]> {
  const store = memoryStore()
  const engine = createEngine({ policy: parsePolicy(POLICY('deny')), store })
  const facts = (path: string, cost?: number) => ({
    method: 'GET',
    path,
    headers: {},
    ip: '192.0.2.1',
    ...(cost === undefined ? {} : { cost }),
  })
  const made = [await engine.decide(facts('/')), await engine.decide(facts('/two')), await engine.decide(facts('/two', 2.5))]
  made.push(await engine.decide(facts('/two')), await engine.decide(facts('/', 9)), await engine.decide(facts('/')))
  await engine.blockKey({ key: '192.0.2.1' }, '10m')
  made.push(await engine.decide(facts('/')), await engine.decideKey({ key: 'k', limit: 'second' }))
  for (const failure of ['deny', 'allow'])
    made.push(await createEngine({ policy: parsePolicy(POLICY(failure)), store: gone }).decide(facts('/two')))
  const none = createEngine({ policy: parsePolicy('version: 1\nrules: []\n'), store })
  made.push(await none.decide(facts('/')))
  const chance = "exempt: [{ path: '/a\"b' }]\nrules:\n  - { name: some, key: [], rate: 1/s, burst: 9, sample: 2 }\n"
  const some = createEngine({ policy: parsePolicy(`version: 1\n${chance}`), store, random: () => 0 })
  made.push(await some.decide(facts('/')), await some.decide(facts('/a"b')))
  return made
}

describe('a decision as JSON', () => {
  it('is what JSON.stringify writes of it, without what spreads retries', async () => {
    const made = await decisions()
    expect(new Set(made.map(({ outcome }) => outcome)).size).toBe(4)
    expect(made.some(({ reason }) => reason === 'blocked')).toBe(true)
    expect(made.some(({ probabilistic }) => probabilistic === true)).toBe(true)
    expect(made.some(({ exempt }) => exempt !== undefined)).toBe(true)
    expect(made.some(({ shadow }) => shadow.length > 0)).toBe(true)
    for (const decision of made) {
      const parsed = JSON.parse(decisionJson(decision)) as object
      expect(parsed).toEqual(JSON.parse(JSON.stringify({ ...decision, identity: undefined })))
      expect('identity' in parsed).toBe(false)
    }
  })
})
