import type { Plot, Series } from '../result/plot.ts'
import type { Column, Row } from '../result/table.ts'
import type { Grant } from '../redis/grants.ts'
import type { RedisPart } from '../redis/redis-part.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import { ARTICLE_NAMES, isArticleWay, OVER_GRANT, TEST } from './article.ts'
import { testOf, testSeconds } from './measured.ts'

const WAYS: readonly Way[] = ['lua-article', 'multi-command', 'watch', 'lua', 'sluice', 'bare', 'leases']

const COLUMNS: readonly Column[] = [
  { key: 'total', title: 'total' },
  { key: 'allowed', title: 'allowed' },
  { key: 'errors', title: 'errors' },
  { key: 'nominal', title: 'theoretical max' },
  { key: 'reckoned', title: 'over_grant of the article', unit: '%' },
  { key: 'maximum', title: 'at most' },
]

/**
 * What each contestant lets through on one key in the test `TestOverGrant` of the article "Benchmarking Token Bucket Rate Limiters", next
 * to the article's figures.
 */
export const overGrant: RedisPart = {
  name: 'over-grant',
  title: `over-grant: burst ${TEST.burst}, ${TEST.rate}/s, cost 1, ${TEST.callers} callers on one key`,
  async run(options) {
    const grants: [Way, Grant][] = []
    for (const way of WAYS) {
      options.say(`${wayOf(way).name}, ${testSeconds(options)} s`)
      grants.push([way, await testOf(options, way)])
    }
    return {
      tables: [
        {
          name: 'over-grant',
          title: 'requests in all, and those allowed',
          columns: COLUMNS,
          rows: grants.flatMap(([way, grant]) => rowsOf(way, grant)),
          notes: [
            'The column `theoretical max` is burst + rate * seconds, as in the article. The column `over_grant of the article` compares `allowed` with it. It is below 0 % if the last token came after the last request, or if a token was lost to an error.',
            'The column `at most` is burst + rate * time until the last answer, rounded down. Over-grant is that of the worst interval by the server’s clock.',
            'Errors are requests without a decision. They do not count as allowed.',
          ],
        },
      ],
      plots: [allowedPlot(grants.map(([, grant]) => grant))],
      figures: grants.map(([, { name, audit }]) => ({ name, audit })),
    }
  },
}

export function rowsOf(
  way: Way,
  { name, total, allowed, errors, nominalMaximum, maximum, overNominalPercent, overGrantPercent }: Grant,
): Row[] {
  const cells = { total, allowed, errors, nominal: nominalMaximum, reckoned: overNominalPercent, maximum }
  const row: Row = { name, kind: wayOf(way).kind as 'ours', cells, overGrant: overGrantPercent }
  if (!isArticleWay(way)) return [row]
  const { percent, ...quoted } = OVER_GRANT[way]
  return [
    row,
    { name: `${ARTICLE_NAMES[way]} in the article`, kind: 'quoted', cells: { ...quoted, nominal: TEST.maximum, reckoned: percent } },
  ]
}

/** The number of requests allowed over time, and the limit. */
function allowedPlot(grants: readonly Grant[]): Plot {
  const end = Math.max(0, ...grants.map(({ times }) => times.at(-1) ?? 0)) / 1_000
  const limit: Series = {
    name: 'burst + rate * time',
    kind: 'computed',
    points: [0, end].map((x) => ({ x, y: TEST.burst + TEST.rate * x })),
  }
  const series = grants.map(({ name, times }): Series => ({
    name,
    kind: wayOf(WAYS.find((way) => wayOf(way).name === name) ?? 'lua').kind as 'ours',
    points: times.map((ms, index) => ({ x: ms / 1_000, y: index + 1 })),
  }))
  return {
    name: 'allowed',
    title: 'requests allowed over time',
    x: { title: 'seconds since the first one' },
    y: { title: 'allowed', log: true },
    series: [...series, limit],
    steps: true,
  }
}
