import type { OnStoreFailure, Policy, Rule } from 'sluice/policy'
import { readPolicy } from '../read-policy.ts'
import { tokenWarnings } from '../unverified.ts'

/** `sluice check POLICY`: says what the policy means, rule by rule, with the bound of each and what is probably not meant. */
export function check(file: string, json: boolean): void {
  const policy = readPolicy(file)
  const facts = { rules: policy.rules.map(factsOf), warnings: [...policy.warnings, ...tokenWarnings(policy)] }
  const { dialect, hash, failure } = policy
  process.stdout.write(json ? `${JSON.stringify({ dialect, hash, failure, ...facts }, undefined, 2)}\n` : text(file, policy, facts))
}

interface Facts {
  readonly rules: readonly RuleFacts[]
  readonly warnings: readonly string[]
}

type RuleFacts = ReturnType<typeof factsOf>

/** How much more than its limit a rule may admit while its store does not answer. */
const STAND_IN: Readonly<Record<OnStoreFailure, string>> = {
  deny: '0 while it does not',
  local: 'n processes times the limit while it does not',
  allow: 'unbounded while it does not',
}

function factsOf({ name, mode, match, key, tiers, cost, onStoreFailure }: Rule) {
  const { path, methods, hosts, when } = match
  return {
    name,
    mode,
    match: {
      ...(methods === undefined ? {} : { methods: [...methods] }),
      ...(path === undefined ? {} : { path: path.text }),
      ...(hosts === undefined ? {} : { hosts: hosts.map((host) => host.text) }),
      ...(when.length === 0 ? {} : { when: when.map(({ source, value }) => ({ source: source.text, value })) }),
    },
    key: key.map((sources) => sources.map((source) => source.text).join(' or ')),
    tiers: tiers.map(({ label, limit, windowMs }) => ({
      label: label === '' ? 'any' : label,
      algorithm: limit.algorithm.name,
      capacity: limit.capacity,
      windowMs: windowMs ?? limit.windowMs,
    })),
    cost: cost.text,
    onStoreFailure,
    bound: mode === 'enforce' ? `over-grant 0 while the store decides, ${STAND_IN[onStoreFailure]}` : `none: ${mode} stops nobody`,
  }
}

/** What a rule means, as `check --json` tells it. */
export function ruleFacts(rule: Rule): object {
  return factsOf(rule)
}

function text(file: string, { dialect, failure, hash }: Policy, { rules, warnings }: Facts): string {
  const lines = [`${file}: valid, dialect ${dialect}, ${rules.length} rules, deadline ${failure.deadlineMs} ms, hash ${hash}`]
  for (const { name, mode, match, key, tiers, cost, onStoreFailure, bound } of rules) {
    lines.push(`  ${name}: ${mode}, cost ${cost}, on store failure ${onStoreFailure}`)
    lines.push(`    match: ${matchText(match)}`)
    lines.push(`    key: ${key.length === 0 ? 'one bucket for everybody' : key.join(', ')}`)
    for (const { label, algorithm, capacity, windowMs } of tiers)
      lines.push(`    tier ${label}: ${algorithm} of ${capacity}, window ${windowMs / 1_000} s`)
    lines.push(`    bound: ${bound}`)
  }
  return `${[...lines, ...warnings.map((warning) => `warning: ${warning}`)].join('\n')}\n`
}

function matchText({ methods, path, hosts, when = [] }: RuleFacts['match']): string {
  const parts = [
    ...(methods === undefined ? [] : [`method ${methods.join(' or ')}`]),
    ...(path === undefined ? [] : [`path ${path}`]),
    ...(hosts === undefined ? [] : [`host ${hosts.join(' or ')}`]),
    ...when.map(({ source, value }) => `${source} is ${value}`),
  ]
  return parts.length === 0 ? 'every request' : parts.join(', ')
}
