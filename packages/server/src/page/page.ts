import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { send } from '../http/answer.ts'
import type { Route } from '../http/routes.ts'

const require = createRequire(import.meta.url)

const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript' } as const
const FILES = [
  ['/', 'index', 'html'],
  ['/page.css', 'page', 'css'],
  ...['page', 'limits', 'answers', 'element'].map((name) => [`/${name}.js`, name, 'js'] as const),
] as const

/** Content security policy of the page: it may run, load and call only this service, and nobody may frame it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const GUARDS = [
  ['Content-Security-Policy', POLICY],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
] as const

export function pageRoutes(): [string, Route][] {
  return FILES.map(([path, name, kind]) => {
    const [file, type] = [require.resolve(`@sluice/dashboard/${name}.${kind}`), `${TYPES[kind]}; charset=utf-8`]
    return [path, { GET: ({ response }) => send(response, 200, type, readFileSync(file), GUARDS) }]
  })
}
