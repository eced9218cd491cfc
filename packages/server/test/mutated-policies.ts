import { readdirSync, readFileSync } from 'node:fs'
import { PolicyError } from 'sluice/policy'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import type { HeldPolicy } from '../src/policy/held-policy.ts'
import { ADMIN, local } from './in-process.ts'

/** One policy in 20 comes over HTTP. The others are replaced as if the file had changed. */
const PUT_EVERY = 20
/** A request begins after so many, while others are in flight. */
const ASK_EVERY = 8
const SEED = 0x51_0c_e0_01

const SHIPPED = ['../policies/', '../../sluice/test/fixtures/'].flatMap((folder) => {
  const url = new URL(folder, import.meta.url)
  return readdirSync(url).flatMap((name) => (/\.(?:ya?ml|json)$/.test(name) ? [readFileSync(new URL(name, url), 'utf8')] : []))
})
const NATIVE = `version: 1
trustedProxies: [loopback]
headers: { dialect: draft-11, legacy: delta }
failure: { deadline: 50ms, policy: deny }
rules:
  - { name: global, rate: 10000/s, burst: 10000, key: [] }
  - name: per-key
    match: { path: /api/**, method: [GET, POST] }
    key: [header:x-api-key]
    tiers:
      - { when: { header:x-plan: big }, rate: 1000/s, burst: 2000 }
      - { rate: 10/s, burst: 20 }
    cost: { from: header:x-weight, default: 1, max: 100 }
    mode: shadow
`
const SPLICES = [
  '__proto__',
  '*a',
  '&a ',
  '<<: ',
  '!!js/function ',
  '\u0000',
  '\ud800',
  '1e309',
  '-5',
  '{',
  '[',
  '"',
  '\t',
  '- ',
  ': ',
  '0x10',
  '💥',
  '#',
  '|',
  '~',
]

/**
 * Returns a function that draws whole numbers below a bound (xorshift). With the same seed it draws the same numbers, so a run can be
 * repeated.
 */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

/** A few bytes changed, cut out, doubled or put in. */
function mutateBytes(text: string, random: (below: number) => number): string {
  let mutated = text
  for (let times = 1 + random(3); times > 0; times -= 1) {
    const [at, length] = [random(mutated.length + 1), random(12)]
    const [before, piece, after] = [mutated.slice(0, at), mutated.slice(at, at + length), mutated.slice(at + length)]
    const changed = [
      '',
      piece + piece,
      String.fromCharCode(32 + random(96)) + piece,
      (SPLICES[random(SPLICES.length)] as string) + piece,
      piece.split('').reverse().join(''),
    ]
    mutated = before + (changed[random(changed.length)] as string) + after
  }
  return mutated
}

/** One node replaced, removed, renamed or moved. */
function mutateStructure(tree: unknown, random: (below: number) => number): string {
  const root: unknown = structuredClone(tree)
  const nodes: Record<string, unknown>[] = []
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    nodes.push(node as Record<string, unknown>)
    Object.values(node).forEach(collect)
  }
  collect(root)
  const node = nodes[random(nodes.length)] as Record<string, unknown>
  const names = Object.keys(node)
  const name = names[random(names.length)] as string
  const values = [null, -1, 0, 1e309, '', 'x'.repeat(1_000), [], {}, [[]], true, '1/s', '\u0000', 10 ** 15, { a: { b: {} } }]
  switch (random(4)) {
    case 0:
      delete node[name]
      break
    case 1:
      node[`${name}${random(3)}`] = node[name]
      break
    case 2:
      node[name] = structuredClone(nodes[random(nodes.length)])
      break
    default:
      node[name] = values[random(values.length)]
  }
  // JSON is YAML, and written faster.
  return JSON.stringify(root)
}

/** Registers: so many mutated policies, loaded while clients call. */
export function mutatedPolicies(mutations: number): void {
  it(`${mutations} mutated policies crash nothing, fail no request, and leave the last good one`, async () => {
    const random = seeded(SEED)
    const originals = [NATIVE, ...SHIPPED].flatMap((text) => {
      const tree = parseOrNothing(text)
      return typeof tree === 'object' ? [{ text, tree }] : []
    })
    expect(originals.length).toBeGreaterThanOrEqual(3)
    const service = await local(NATIVE)
    const counts = { accepted: 0, refused: 0, sent: 0 }
    const failed: unknown[] = []
    const send = async (): Promise<void> => {
      const key = `k${counts.sent % 50}`
      const facts = { method: 'GET', path: `/api/${counts.sent % 7}`, headers: { 'x-api-key': key }, ip: '192.0.2.1' }
      const requestBody = counts.sent % 3 === 0 ? { key } : facts
      counts.sent += 1
      const many = counts.sent % 5 === 0
      const answer = await service.post(many ? '/v1/checks' : '/v1/check', many ? [requestBody, requestBody] : requestBody)
      const text = await answer.text()
      if (answer.status !== 200) failed.push([answer.status, text])
    }
    const sending: Promise<void>[] = []
    for (let taken = 0; taken < mutations; taken += 1) {
      const original = originals[random(originals.length)] as (typeof originals)[number]
      const text = random(2) === 0 ? mutateBytes(original.text, random) : mutateStructure(original.tree, random)
      const [before, rejected] = [service.policy.current, service.policy.rejected]
      let good: boolean
      if (taken % PUT_EVERY === 0) {
        const answer = await fetch(`${service.url}/v1/policy`, { method: 'PUT', headers: ADMIN, body: text })
        expect([200, 400, 409]).toContain(answer.status)
        await answer.arrayBuffer()
        good = answer.status === 200
      } else {
        good = await replaced(service.policy, text)
        // Lets the event loop turn, so that requests can arrive and be answered between two policies.
        if (taken % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      if (taken % ASK_EVERY === 0) sending.push(send())
      counts[good ? 'accepted' : 'refused'] += 1
      expect([service.policy.current === before, service.policy.rejected - rejected]).toEqual(good ? [false, 0] : [true, 1])
      expect(service.engine.policy).toBe(service.policy.current)
    }
    await Promise.all(sending)
    expect(failed).toEqual([])
    expect(counts.accepted + counts.refused).toBe(mutations)
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(mutations / 20)
    expect(counts.sent).toBe(mutations / ASK_EVERY)
    expect(service.policy.rejected).toBe(counts.refused)
    expect(await replaced(service.policy, NATIVE)).toBe(true)
    expect((await service.post('/v1/check', { key: 'at-last' })).status).toBe(200)
  }, 120_000)
}

async function replaced(policy: HeldPolicy, text: string): Promise<boolean> {
  try {
    await policy.replace({ text, filename: 'mutated.yaml' })
    return true
  } catch (error) {
    // A policy may be refused only by these errors, which explain themselves. Any other error is a crash.
    if (error instanceof PolicyError || (error as { status?: number }).status === 409) return false
    throw error
  }
}

function parseOrNothing(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}
