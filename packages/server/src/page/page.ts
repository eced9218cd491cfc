import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { send } from '../http/answer.ts'
import type { Route } from '../http/routes.ts'

const require = createRequire(import.meta.url)

const FILES: ReadonlyMap<string, { readonly file: string; readonly type: string }> = new Map([
  ['/', { file: '@sluice/dashboard/index.html', type: 'text/html; charset=utf-8' }],
  ['/page.css', { file: '@sluice/dashboard/page.css', type: 'text/css; charset=utf-8' }],
  ...['page', 'limits', 'answers', 'element'].map((name): [string, { file: string; type: string }] => [
    `/${name}.js`,
    { file: `@sluice/dashboard/${name}.js`, type: 'text/javascript; charset=utf-8' },
  ]),
])

/** Content security policy of the page: it may run, load and call only this service, and nobody may frame it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const GUARDS = [
  ['Content-Security-Policy', POLICY],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
] as const

/** One route for each of the page's files. */
export function pageRoutes(): [string, Route][] {
  return [...FILES].map(([path, { file, type }]) => [
    path,
    { GET: ({ response }) => send(response, 200, type, readFileSync(require.resolve(file)), GUARDS) },
  ])
}
