import { LimiterError } from 'sluice'
import { parseDuration } from 'sluice/policy'
import { CommandFailure, EXIT } from '../cli/failure.ts'
import type { Io } from '../cli/io.ts'
import type { KeyHolder } from './keys/key-holder.ts'
import { HOLDER_FLAGS, openHolder, targetOf } from './keys/open-holder.ts'
import { print } from '../cli/print.ts'
import { type ParsedArguments, JSON_FLAG, type Verb } from '../cli/verb.ts'

const STORE = '--store redis://127.0.0.1:6379 --policy policy.yaml'

export const resetVerb: Verb = {
  name: 'reset',
  words: ['KEY'],
  does: 'forgets what a key has used, so that its next request finds it fresh; a block stays',
  flags: { ...HOLDER_FLAGS, json: JSON_FLAG },
  examples: ['reset user:42 --token-file ./token', `reset user:42 --limit per-key ${STORE}`],
  run: (args, io) => changed(io, 'reset', args, {}, 'is fresh', (holder) => holder.reset(targetOf(args))),
}

export const blockVerb: Verb = {
  name: 'block',
  words: ['KEY', 'DURATION'],
  does: 'denies a key for a while whatever is left of its limits; DURATION is such as 30s, 15m or 1d',
  flags: { ...HOLDER_FLAGS, json: JSON_FLAG },
  examples: ['block user:42 15m --token-file ./token', `block user:42 1d ${STORE}`],
  async run(args, io) {
    const blockedForMs = durationOf(args.words[1] as string)
    await changed(io, 'block', args, { blockedForMs }, `is blocked for ${blockedForMs} ms`, (holder) =>
      holder.block(targetOf(args), blockedForMs),
    )
  },
}

export const unblockVerb: Verb = {
  name: 'unblock',
  words: ['KEY'],
  does: 'lifts the block of a key',
  flags: { ...HOLDER_FLAGS, json: JSON_FLAG },
  examples: ['unblock user:42 --token-file ./token', `unblock user:42 ${STORE}`],
  run: (args, io) => changed(io, 'unblock', args, { blockedForMs: null }, 'is not blocked', (holder) => holder.block(targetOf(args), null)),
}

async function changed(
  io: Io,
  verb: string,
  args: ParsedArguments,
  facts: object,
  now: string,
  change: (holder: KeyHolder) => Promise<void>,
): Promise<void> {
  const holder = await openHolder(verb, args)
  try {
    await change(holder)
    const { key, limit } = targetOf(args)
    const rules = limit === undefined ? 'under every rule that has a key' : `under ${limit}`
    print(io, args, { key, ...(limit === undefined ? {} : { limit }), source: holder.name, ...facts, done: verb }, () => [
      `${JSON.stringify(key)} ${now} ${rules} in ${holder.name}`,
    ])
  } finally {
    await holder.close()
  }
}

/**
 * Converts DURATION to milliseconds, rounded up.
 * @throws CommandFailure exit 3 for a text that is not a duration
 */
function durationOf(text: string): number {
  try {
    return Math.ceil(parseDuration(text) / 1_000)
  } catch (error) {
    if (error instanceof LimiterError) throw new CommandFailure(EXIT.usage, `block: ${error.message}`, { cause: error })
    throw error
  }
}
