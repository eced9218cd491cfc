import type { Decision, DecisionEvent } from 'sluice'
import { parsePolicy } from 'sluice/policy'
import { showLimits, startLimits } from '@sluice/dashboard/limits.js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Activity, createActivity, sumActivity } from '../src/page/activity.ts'
import { freshReadings } from '../src/page/readings.ts'
import { rendered } from '../src/page/rendered.ts'

/** Valid names of rules that every object inherits. */
const NAMES = ['constructor', 'toString', '__proto__']
const POLICY = parsePolicy(`version: 1\nrules:\n${NAMES.map((name) => `  - { name: ${name}, key: [], rate: 1/s, burst: 5 }\n`).join('')}`)

/** The activity that a process reports after each of the rules has refused one request. */
function activityOf(names: readonly string[]): Activity {
  let now = 1_800_000_000_000
  const activity = createActivity(
    () => POLICY,
    () => now,
  )
  for (const limitName of names) {
    const decision = { outcome: 'denied', allowed: false, limits: [], limitName, reason: 'quota' } as unknown as Decision
    activity.onDecision({ decision } as DecisionEvent)
  }
  now += 1_000
  // As it comes from another process.
  return JSON.parse(JSON.stringify(activity.report())) as Activity
}

/** As much of an element as the page's limits need. */
function fakeElement(): Record<string, unknown> {
  return { textContent: '', append: () => {}, replaceChildren: () => {} }
}

describe('rules named like what every object inherits', () => {
  afterEach(() => void vi.unstubAllGlobals())

  it('have no refused requests on the page before the first one', () => {
    const text = rendered('<!-- put limits -->', POLICY, activityOf([]))
    expect(text.match(/<li /g)).toHaveLength(NAMES.length)
    expect(text).not.toContain('Refused')
  })

  it('have their refused requests on the page, added up over processes', () => {
    const sum = sumActivity([activityOf([]), activityOf(NAMES), activityOf(NAMES)])
    expect(Object.entries(sum?.refusedBy ?? {})).toEqual(NAMES.map((name) => [name, 2]))
    expect(rendered('<!-- put limits -->', POLICY, sum).match(/Refused in the last five minutes: 2\./g)).toHaveLength(NAMES.length)
  })

  it('have their refused requests in the page that its script draws', () => {
    const made: Record<string, unknown>[] = []
    const createElement = (): unknown => made[made.push(fakeElement()) - 1]
    vi.stubGlobal('document', { createElement, getElementById: fakeElement })
    const { limits } = freshReadings(POLICY)
    const texts = (refused: Activity['refusedBy']): unknown[] => {
      showLimits(limits, refused)
      return made.filter(({ className }) => className === 'times').map(({ textContent }) => textContent)
    }
    startLimits(limits, 0)
    expect(texts({})).toEqual(['', '', ''])
    expect(texts(activityOf(NAMES).refusedBy)).toEqual(NAMES.map(() => '1 refused'))
    startLimits([], 0)
  })
})
