import type { KeyState } from 'sluice/policy'
import { HOLDER_FLAGS, openHolder, targetOf } from './keys/open-holder.ts'
import { print } from '../cli/print.ts'
import { JSON_FLAG, type Verb } from '../cli/verb.ts'

export const inspectVerb: Verb = {
  name: 'inspect',
  words: ['KEY'],
  does: 'what is left of a key under every rule that has one, in a running service or in a store; charges nothing',
  flags: { ...HOLDER_FLAGS, json: JSON_FLAG },
  examples: ['inspect user:42 --token-file ./token', 'inspect user:42 --store redis://127.0.0.1:6379 --policy policy.yaml'],
  async run(args, io) {
    const target = targetOf(args)
    const holder = await openHolder('inspect', args)
    try {
      const states = await holder.inspect(target)
      print(io, args, { key: target.key, source: holder.name, states }, () => [
        `${JSON.stringify(target.key)} in ${holder.name}:${states.length === 0 ? ' no rule has a key' : ''}`,
        ...states.flatMap(textOf),
      ])
    } finally {
      await holder.close()
    }
  },
}

function textOf(state: KeyState): string[] {
  const { name, tier, source, limit, remaining, replenishAfterMs, resetAfterMs, fresh, algorithm, blockedForMs } = state
  const left = fresh
    ? `${limit} of ${limit}, fresh`
    : `${remaining} of ${limit}, one more in ${replenishAfterMs} ms, fresh in ${resetAfterMs} ms`
  const blocked = blockedForMs === undefined ? [] : [`    blocked for ${blockedForMs} ms more`]
  return [`  ${name}${tier === '' ? '' : `, tier ${tier}`}, as ${source}: ${left}`, `    ${algorithm}, state ${state.state}`, ...blocked]
}
