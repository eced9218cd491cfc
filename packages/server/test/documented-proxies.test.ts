import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EXAMPLES } from './proxies.ts'

const PAGE = readFileSync(join(EXAMPLES, '../docs/service.md'), 'utf8')

it.each(['service.yaml', 'nginx/nginx.conf', 'caddy/Caddyfile', 'haproxy/haproxy.cfg', 'haproxy/sluice.lua'])(
  'U12: docs/service.md quotes examples/%s as it is',
  (file) => {
    const fences = [...PAGE.matchAll(/^```\w+[^\n]*\n(.*?)^```$/gms)].map(([, text]) => text)
    expect(fences).toContain(readFileSync(join(EXAMPLES, file), 'utf8'))
  },
)
