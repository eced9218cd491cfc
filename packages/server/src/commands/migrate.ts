import { StoreFailure } from 'sluice'
import { failed, usage } from '../cli/failure.ts'
import { PROGRESS_FLAG, progressOf } from '../cli/progress.ts'
import { storeFlags, storeUrlOf } from '../cli/store-flags.ts'
import { openStore } from '../stores/open-store.ts'
import { JSON_FLAG, print, type Verb } from '../cli/verb.ts'

export const migrateVerb: Verb = {
  name: 'migrate',
  words: [],
  does: 'makes or updates the tables of a SQL store; serving does so too, this is for accounts that may not',
  flags: {
    ...storeFlags('postgres://... or pglite:DIR; needed'),
    'compat-function': 'also the table and the function rate_limiting_token_bucket_request of "Rate limiting with PostgreSQL / YugabyteDB"',
    prune: 'also drops the functions of other versions; refused while one was installed in the last seven days',
    yes: 'with --prune: drops them however young they are; processes of those versions cannot decide from then on',
    progress: PROGRESS_FLAG,
    json: JSON_FLAG,
  },
  examples: ['migrate --store postgres://127.0.0.1:5432/limits', 'migrate --store pglite:./data --compat-function'],
  async run(args, io) {
    const url = storeUrlOf('migrate', args, io)
    if (url === undefined) throw usage('migrate: --store URL is missing: postgres://... or pglite:DIR')
    if (args.switch('yes') && !args.switch('prune')) throw usage(`migrate: ${args.called('yes')} is for --prune`)
    const progress = progressOf('migrate', args, io)
    progress.clock('making tables and functions')
    const { name, migrate, close } = await openStore(url).catch((error: unknown) => {
      progress.end()
      throw error
    })
    try {
      if (migrate === undefined) throw usage(`migrate: ${name} has no tables; expected postgres://... or pglite:DIR`)
      const [compatFunction, prune, force] = [args.switch('compat-function'), args.switch('prune'), args.switch('yes')]
      await migrate({ compatFunction, prune, force }).catch((error: unknown) => Promise.reject(refused(error)))
      print(io, args, { store: name, compatFunction, pruned: prune }, () => [
        `${name} is up to date${compatFunction ? ', rate_limiting_token_bucket_request included' : ''}${prune ? ', functions of other versions are gone' : ''}`,
      ])
    } finally {
      progress.end()
      await close()
    }
  },
}

/**
 * The store refuses to drop functions that were installed recently (SL003). The store's message names an option of the library, and not the
 * flag `--yes`.
 */
function refused(error: unknown): unknown {
  if (!(error instanceof StoreFailure) || !error.message.includes(' SL003 ')) return error
  const line = error.message.replace(/^.*SL003 /, '').replace(/ \(.*$/, '')
  return failed(`migrate: ${line}; processes of that version would fail: --yes drops them all the same`)
}
