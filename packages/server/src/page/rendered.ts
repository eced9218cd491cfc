import type { Policy } from 'sluice/policy'
import { type Activity, refusedOf } from './activity.ts'
import { freshReadings } from './readings.ts'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** The page with what its scripts would show at this moment, as text. A script replaces it. */
export function rendered(template: string, policy: Policy, activity: Activity | undefined): string {
  const { limits, notShown } = freshReadings(policy)
  const items = limits.map(({ name, limit, rate, counts }) => {
    const refused = activity === undefined ? 0 : refusedOf(activity, name)
    const more = refused === 0 ? '' : ` Refused in the last five minutes: ${refused}.`
    return `<li class="limit"><strong>${escaped(name)}</strong>: ${limit} at most, ${escaped(rate)}, for ${escaped(counts)}.${more}</li>`
  })
  if (notShown > 0) items.push(`<li>${notShown} more limits are not shown.</li>`)
  const parts: Readonly<Record<string, string>> = {
    limits: items.join('\n'),
    allowed: String(sum(activity?.allowed)),
    refused: String(sum(activity?.refused)),
    refusal: escaped(activity?.refusal?.why ?? 'No request was refused since the start.'),
  }
  return template.replaceAll(/<!-- put (\w+) -->/g, (whole, name: string) => parts[name] ?? whole)
}

function sum(counts: readonly number[] = []): number {
  return counts.reduce((total, count) => total + count, 0)
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string)
}
