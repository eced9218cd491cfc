import type { Policy, Rule } from 'sluice/policy'

/** Warns of claims that a rule reads although the policy says nothing about verifying tokens. */
export function tokenWarning({ jwt }: Policy, { name, mode, match, key, tiers }: Rule): string | undefined {
  if (jwt !== undefined || mode === 'off') return undefined
  const matched = match.when.filter(({ source }) => isClaim(source.text))
  const conditions = tiers.flatMap(({ when }) => when.filter(({ source }) => isClaim(source.text)))
  // Another source in the same part of the key still separates requests.
  const parts = key.filter((sources) => sources.every(({ text }) => isClaim(text)))
  const sources = [...[...matched, ...conditions].map(({ source }) => source), ...parts.flat()]
  const claims = new Set(sources.map(({ text }) => text))
  if (claims.size === 0) return undefined
  const ofKey = parts.length < key.length ? ' of the key' : ''
  const effects = [
    ...(matched.length === 0 ? [] : ['it never applies']),
    ...(conditions.length === 0 ? [] : ['its tiers with such a condition are never used']),
    ...(parts.length === 0 ? [] : [`requests that differ in nothing else${ofKey} share one bucket`]),
  ]
  return `rule ${name} reads ${[...claims].join(', ')}, but no jwt section says how tokens are verified: the value counts as absent, so ${effects.join(', and ')}`
}

function isClaim(source: string): boolean {
  return source.startsWith('jwt:')
}
