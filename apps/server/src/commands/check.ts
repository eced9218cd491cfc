import type { Policy } from 'sluice/policy'
import { readPolicy } from '../read-policy.ts'

/** `sluice check POLICY`: says what the policy means, rule by rule, with the bound of each and what is probably not meant. */
export function check(file: string, json: boolean): void {
  const policy = readPolicy(file)
  process.stdout.write(json ? `${JSON.stringify(describe(policy), undefined, 2)}\n` : text(file, policy))
}

function describe(policy: Policy): unknown {
  return {
    dialect: policy.dialect,
    hash: policy.hash,
    failure: policy.failure,
    rules: policy.rules.map(({ name, mode, tiers, cost, onStoreFailure }) => ({
      name,
      mode,
      cost: cost.text,
      onStoreFailure,
      tiers: tiers.map((tier) => ({
        label: tier.label,
        capacity: tier.limit.capacity,
        windowMs: tier.windowMs ?? tier.limit.windowMs,
        overgrantBound: 0,
      })),
    })),
    warnings: policy.warnings,
  }
}

function text(file: string, policy: Policy): string {
  const lines = [
    `${file}: valid, dialect ${policy.dialect}, ${policy.rules.length} rules, deadline ${policy.failure.deadlineMs} ms, hash ${policy.hash}`,
  ]
  for (const { name, mode, tiers, cost, onStoreFailure } of policy.rules) {
    lines.push(`  ${name}: ${mode}, cost ${cost.text}, on store failure ${onStoreFailure}`)
    for (const { label, limit } of tiers) {
      const fill = limit.windowMs / 1_000
      lines.push(
        `    ${label === '' ? 'everybody' : label}: ${limit.algorithm.name} of ${limit.capacity}, full again in ${fill} s, over-grant bound 0`,
      )
    }
  }
  return `${[...lines, ...policy.warnings.map((warning) => `warning: ${warning}`)].join('\n')}\n`
}
