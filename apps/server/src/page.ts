import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { ServerResponse } from 'node:http'
import { send } from './answer.ts'

const require = createRequire(import.meta.url)

const FILES: ReadonlyMap<string, { readonly file: string; readonly type: string }> = new Map([
  ['/', { file: '@sluice/dashboard/index.html', type: 'text/html; charset=utf-8' }],
  ['/page.css', { file: '@sluice/dashboard/page.css', type: 'text/css; charset=utf-8' }],
  ...['page', 'limits', 'answers', 'element'].map((name): [string, { file: string; type: string }] => [
    `/${name}.js`,
    { file: `@sluice/dashboard/${name}.js`, type: 'text/javascript; charset=utf-8' },
  ]),
])

/** Only what this service serves itself may run, load or be asked; nobody may frame it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Answers a request for one of the page's files; false where the path is none of them. */
export function servePage(path: string, response: ServerResponse): boolean {
  const found = FILES.get(path)
  if (found === undefined) return false
  response.setHeader('Content-Security-Policy', POLICY)
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Referrer-Policy', 'no-referrer')
  send(response, 200, found.type, readFileSync(require.resolve(found.file)))
  return true
}
