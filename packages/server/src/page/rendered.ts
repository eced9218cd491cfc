import type { Policy } from 'sluice/policy'
import type { RegionStatus } from '../regions/region-status.ts'
import { type Activity, refusedOf } from './activity.ts'
import { freshReadings } from './readings.ts'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Filled with the text that the page's scripts show later. */
export function rendered(template: string, policy: Policy, activity: Activity | undefined, region?: RegionStatus): string {
  const { limits, notShown } = freshReadings(policy)
  const items = limits.map(({ name, limit, rate, counts }) => {
    const refused = activity === undefined ? 0 : refusedOf(activity, name)
    const more = refused === 0 ? '' : ` Refused in the last five minutes: ${refused}.`
    return `<li class="limit"><strong>${escaped(name)}</strong>: ${limit} at most, ${escaped(rate)}, for ${escaped(counts)}.${more}</li>`
  })
  if (notShown > 0) items.push(`<li>${notShown} more limits are not shown.</li>`)
  const parts: Readonly<Record<string, string>> = {
    limits: items.join('\n'),
    regions: region === undefined ? '' : `<p class="quiet">${escaped(regionText(policy, region))}</p>`,
    allowed: String(sum(activity?.allowed)),
    refused: String(sum(activity?.refused)),
    refusal: escaped(activity?.refusal?.why ?? 'No request was refused since the start.'),
  }
  return template.replaceAll(/<!-- put (\w+) -->/g, (whole, name: string) => parts[name] ?? whole)
}

function regionText(policy: Policy, { self, mode, weights, phase, storeFailure }: RegionStatus): string {
  const parts = Object.entries(weights).map(([name, weight]) => `${name} ${weight}`)
  const known = phase === undefined ? '' : `, now ${phase}`
  const now = storeFailure === undefined ? known : `: ${storeFailure}`
  const enforcing = policy.rules.filter((rule) => rule.mode === 'enforce')
  const isExact = enforcing.every((rule) => policy.boundOf(rule, 'shared').running === 0)
  const bound = isExact ? ' All regions together exceed no limit while their stores decide.' : ''
  return `This is region ${self}${now}. Thousandths of each limit, mode ${mode}: ${parts.join(', ')}.${bound}`
}

function sum(counts: readonly number[] = []): number {
  return counts.reduce((total, count) => total + count, 0)
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string)
}
