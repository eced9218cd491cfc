import { CommandFailure, EXIT } from '../failure.ts'
import { print } from '../print.ts'
import { openStore } from '../stores/open-store.ts'
import { JSON_FLAG, type Verb } from '../verb.ts'

export const migrateVerb: Verb = {
  name: 'migrate',
  words: [],
  does: 'makes or updates the tables of a SQL store; serving does so too, this is for accounts that may not',
  flags: {
    store: { value: 'URL', does: 'postgres://... or pglite:DIR' },
    article: { does: 'also the table and the function rate_limiting_token_bucket_request of "Rate limiting with PostgreSQL / YugabyteDB"' },
    json: JSON_FLAG,
  },
  examples: ['migrate --store postgres://127.0.0.1:5432/limits', 'migrate --store pglite:./data --article'],
  async run(given, io) {
    const url = given.text('store')
    if (url === undefined) throw new CommandFailure(EXIT.usage, 'migrate: --store URL is missing: postgres://... or pglite:DIR')
    const { name, migrate, close } = await openStore(url)
    try {
      if (migrate === undefined)
        throw new CommandFailure(EXIT.usage, `migrate: ${name} has no tables; expected postgres://... or pglite:DIR`)
      const article = given.switch('article')
      await migrate({ article })
      print(io, given, { store: name, article }, () => [
        `${name} is up to date${article ? ', rate_limiting_token_bucket_request included' : ''}`,
      ])
    } finally {
      await close()
    }
  },
}
