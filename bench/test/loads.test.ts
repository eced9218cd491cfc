import { describe, expect, it } from 'vitest'
import { FREE, MIXED, mixedLoad, mixedRequests, threeChecks } from '../src/mixed/requests.ts'
import { withLatencies } from '../src/postgres/loads.ts'
import type { Table } from '../src/result/table.ts'

describe('the mixed load', () => {
  const requests = mixedRequests()

  it('is the same each time: a tenth of the requests is from spent users, and a fifth of the users makes four fifths of the others', () => {
    expect(requests).toEqual(mixedRequests())
    const denied = requests.filter(({ allowed }) => !allowed)
    expect(denied.length / requests.length).toBeCloseTo(MIXED.deniedShare, 3)
    expect(denied.every(({ plan }) => plan === 'free')).toBe(true)
    const paid = requests.filter(({ plan }) => plan === 'paid')
    const few = paid.filter(({ user }) => Number(user.slice('user-'.length)) < 10_000 + MIXED.users / 5)
    expect(few.length / paid.length).toBeCloseTo(0.8, 1)
  })

  it('three checks: the request passes if all of them allow it, and only the user’s plan differs', async () => {
    const seen: string[] = []
    const check = (name: string, allowed: boolean) => async (key: string) => {
      seen.push(`${name} ${key}`)
      return allowed
    }
    const decide = threeChecks(check('wide', true), check('free', false))
    expect(await decide({ tenant: 't', user: 'u', plan: 'paid', allowed: true })).toBe(true)
    expect(await decide({ tenant: 't', user: 'u', plan: 'free', allowed: false })).toBe(false)
    expect(seen).toEqual(['wide global', 'wide t', 'wide u', 'wide global', 'wide t', 'free u'])
  })

  it('counts an answer as right if it is the expected one: a limiter that allows everything is wrong for a tenth', async () => {
    const spent = new Map<string, number>()
    const right = await mixedLoad(async ({ plan, user }) => {
      spent.set(user, (spent.get(user) ?? 0) + 1)
      return plan === 'paid' || (spent.get(user) ?? 0) <= FREE.burst
    })
    const wrong = await mixedLoad(async () => true)
    const answers = async (next: () => Promise<boolean>) => {
      let count = 0
      for (let call = 0; call < requests.length; call += 1) if (await next()) count += 1
      return count / requests.length
    }
    expect(await answers(right)).toBe(1)
    expect(await answers(wrong)).toBeCloseTo(1 - MIXED.deniedShare, 3)
  })
})

it('latencies stand behind time and ratio, and belong to the row of their way', () => {
  const columns = ['callers', 'time', 'ratio', 'calls'].map((key) => ({ key, title: key }))
  const row = { kind: 'ours', cells: { time: 1 }, overGrant: 0 } as const
  const table: Table = {
    name: 'lanes',
    title: '',
    columns,
    rows: [
      { ...row, name: 'a' },
      { ...row, name: 'b' },
    ],
  }
  const samples = [[{ bytes: 0, p50: 1, p99: 9 }], [{ bytes: 0, p50: 2, p99: 8 }]]
  const made = withLatencies(table, samples)
  expect(made.columns.map(({ key }) => key)).toEqual(['callers', 'time', 'ratio', 'p50', 'p99', 'calls'])
  expect(made.rows.map(({ cells }) => cells['p99'])).toMatchObject([{ median: 9 }, { median: 8 }])
})
