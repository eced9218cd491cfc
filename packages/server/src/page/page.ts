import { readFileSync } from 'node:fs'
import type { Policy } from 'sluice/policy'
import { send } from '../http/answer.ts'
import type { Route } from '../http/routes.ts'
import type { Region } from '../regions/region.ts'
import type { ReadReports } from '../workers/messages.ts'
import { sumActivity } from './activity.ts'
import { rendered } from './rendered.ts'

/** `npm run build` copies the page here, so that the published package has it. */
const BUILT = new URL('../../dist/page-files/', import.meta.url)

const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const
const SCRIPTS = ['page', 'chart', 'element', 'limits', 'requests', 'store', 'top-keys', 'traffic']
const FILES = [
  ['/page.css', 'page.css', 'css'],
  ['/uplot.css', 'vendor/uplot.css', 'css'],
  ['/uplot.js', 'vendor/uplot.js', 'js'],
  ['/favicon.svg', 'favicon.svg', 'svg'],
  ...SCRIPTS.map((name) => [`/${name}.js`, `${name}.js`, 'js'] as const),
] as const

/** The page may call only this service, and no other page may frame it. */
const POLICY = [
  "default-src 'none'",
  ...['script', 'style', 'img', 'connect'].map((kind) => `${kind}-src 'self'`),
  ...['base-uri', 'form-action', 'frame-ancestors'].map((name) => `${name} 'none'`),
].join('; ')

const GUARDS = [
  ['Content-Security-Policy', POLICY],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
] as const

/** The page contains the present limits and counts, for browsers that run no script. */
export function pageRoutes(policyNow: () => Policy, activity: ReadReports['activity'], region?: Region): [string, Route][] {
  const template = textOf('index.html')
  const files = FILES.map(([path, file, kind]): [string, Route] => {
    const [text, type] = [textOf(file), typeOf(kind)]
    return [path, { GET: ({ response }) => send(response, 200, type, text, GUARDS) }]
  })
  const page: Route = {
    GET: async ({ response }) =>
      send(response, 200, typeOf('html'), rendered(template, policyNow(), sumActivity(await activity()), region?.status()), GUARDS),
  }
  return [['/', page], ...files]
}

function textOf(file: string): string {
  return readFileSync(new URL(file, BUILT), 'utf8')
}

function typeOf(kind: keyof typeof TYPES): string {
  return `${TYPES[kind]}; charset=utf-8`
}
