import type { Quota } from '../contestants/contestant.ts'
import { type ContestantName, contestantOf } from '../memory/contestants/all.ts'
import { heldBytes } from '../memory/held-bytes.ts'
import { keysOf } from '../memory/many-keys.ts'

export interface ArticleHoldInput {
  readonly contestant: ContestantName
  readonly keys: number
}

export interface ArticleHoldResult {
  /** Heap and external memory for each key after a collection, without the texts of the keys. */
  readonly bytesPerKey: number
  readonly allowed: number
}

/**
 * The limit of the article "Rate limiting in Clojure and Redis Lua", but in a day instead of a minute. So nothing expires before the memory
 * is measured.
 */
const TEN_A_DAY: Quota = { tokens: 10, per: '1d', burst: 10 }

/** Makes nine requests for every key, so that also a bucket that keeps its last token allows them, and measures the memory. */
export async function holdArticle({ contestant, keys: count }: ArticleHoldInput): Promise<ArticleHoldResult> {
  const keys = keysOf(count)
  const before = await heldBytes()
  const { decide } = await contestantOf(contestant).open([TEN_A_DAY], { keys: count })
  let allowed = 0
  for (let hit = 0; hit < HITS; hit += 1) for (const key of keys) if (await decide(key, 1)) allowed += 1
  const bytesPerKey = ((await heldBytes()) - before) / count
  // Uses the limiter after the measurement, so that it is not collected before.
  await decide(keys[0] as string, 1)
  return { bytesPerKey, allowed }
}

export const HITS = 9
