import type { Way } from '../redis/ways.ts'

/** The figures of the article "Benchmarking Token Bucket Rate Limiters". Nothing here was measured by the bench. */

/** The article's three limiters, by the short names of our contestants. */
export type ArticleWay = 'lua-article' | 'multi-command' | 'watch'

export const ARTICLE_NAMES: Readonly<Record<ArticleWay, string>> = {
  'lua-article': 'LuaEvalSha',
  'multi-command': 'MultiCmd',
  watch: 'WatchMultiExec',
}

/** A line of its benchmark: iterations, ns/op and redis_calls/req. */
interface Line {
  readonly iterations: number
  readonly nanoseconds: number
  readonly calls: number
  /** allocs/op, which the article states for 64 callers on a hot key only. */
  readonly allocations?: number
}

/** `hot_key` by callers: con_1, con_16, con_64, con_256. */
export const HOT_KEY: Readonly<Record<ArticleWay, Readonly<Record<number, Line>>>> = {
  'lua-article': {
    1: { iterations: 36_139, nanoseconds: 34_408, calls: 1 },
    16: { iterations: 69_657, nanoseconds: 16_942, calls: 1 },
    64: { iterations: 76_624, nanoseconds: 20_658, calls: 1, allocations: 14 },
    256: { iterations: 61_875, nanoseconds: 21_949, calls: 1 },
  },
  'multi-command': {
    1: { iterations: 14_787, nanoseconds: 83_378, calls: 3 },
    16: { iterations: 22_154, nanoseconds: 58_020, calls: 3 },
    64: { iterations: 24_199, nanoseconds: 54_528, calls: 3, allocations: 28 },
    256: { iterations: 25_531, nanoseconds: 49_091, calls: 3 },
  },
  watch: {
    1: { iterations: 1_762, nanoseconds: 688_617, calls: 18.44 },
    16: { iterations: 1_050, nanoseconds: 1_227_364, calls: 50.56 },
    64: { iterations: 895, nanoseconds: 1_166_537, calls: 50.71, allocations: 1_070 },
    256: { iterations: 828, nanoseconds: 1_300_218, calls: 51.51 },
  },
}

/** `per_user`, which the article shows for 64 callers. */
export const PER_USER: Readonly<Record<ArticleWay, Readonly<Record<number, Line>>>> = {
  'lua-article': { 64: { iterations: 52_089, nanoseconds: 20_900, calls: 1 } },
  'multi-command': { 64: { iterations: 20_330, nanoseconds: 55_538, calls: 3 } },
  watch: { 64: { iterations: 17_378, nanoseconds: 77_726, calls: 3 } },
}

interface TestLine {
  readonly total: number
  readonly allowed: number
  readonly errors: number
  readonly percent: number
}

/** `TestOverGrant`: burst 10, 10 a second, 64 callers on one key for 3 s, so at most 40 in theory. */
export const OVER_GRANT: Readonly<Record<ArticleWay, TestLine>> = {
  'lua-article': { total: 138_592, allowed: 40, errors: 0, percent: 0 },
  'multi-command': { total: 55_134, allowed: 123, errors: 42, percent: 207.5 },
  watch: { total: 2_907, allowed: 38, errors: 1_526, percent: -5 },
}

/** Its test's limit and load. */
export const TEST = { seconds: 3, callers: 64, rate: 10, burst: 10, maximum: 40 } as const

/** The table "Bottom Line" of the article. */
export const BOTTOM_LINE: Readonly<Record<ArticleWay, Readonly<Record<'correctness' | 'throughput' | 'complexity', string>>>> = {
  'lua-article': { correctness: 'exact', throughput: 'best', complexity: 'low' },
  'multi-command': { correctness: 'over-grants (race)', throughput: 'medium', complexity: 'low' },
  watch: { correctness: 'correct (but under-throughput)', throughput: 'worst under contention', complexity: 'high' },
}

/** The article's lessons: percentages of over-grant, which it states with `~`. */
export const LESSONS = {
  timestampRegression: { lastTime: 100, latestTime: 0 },
  writeBack: { always: 200, onlyWhenAllowed: 2_400 },
} as const

/** Whether the article has figures of a way. */
export function isArticleWay(way: Way): way is ArticleWay {
  return way in ARTICLE_NAMES
}
