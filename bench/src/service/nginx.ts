import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startEngine } from '@sluice/scripts/engines'
import type { Quota } from '../contestants/contestant.ts'
import { stoppedAtEnd } from '../engines.ts'
import type { MeasuredServer } from '../http/server-process.ts'
import { treeProcessor } from '../machine/tree-processor.ts'
import type { PartOptions } from '../part.ts'

/** What nginx does before it answers with a file of two bytes. */
export type NginxGuard =
  | { readonly kind: 'bare' }
  /** The limit that nginx itself has, a leaky bucket in whole milliseconds, for each `X-Api-Key`. */
  | { readonly kind: 'limit_req'; readonly quota: Quota }
  /** A call of `/v1/auth` of the service at this port. */
  | { readonly kind: 'auth_request'; readonly port: number }

/** Starts nginx with one worker. Its processor time is that of the master and the worker. */
export async function startNginx(path: string, guard: NginxGuard, { atEnd }: Pick<PartOptions, 'atEnd'>): Promise<MeasuredServer> {
  const port = await freePort()
  // Nothing is awaited between this line and the registration of the stop. So an interrupted run leaves no folder.
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-nginx-'))
  mkdirSync(join(folder, 'site'))
  writeFileSync(join(folder, 'site', 'item'), 'ok')
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configOf(guard, port, folder))
  const url = `http://127.0.0.1:${port}`
  const starting = startEngine(path, ['-e', 'stderr', '-c', file], {
    cwd: folder,
    url,
    // The request that waits for the start has another path than the measured ones, so that it takes no token.
    ready: () =>
      fetch(`${url}/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    cleanUp: () => rmSync(folder, { recursive: true, force: true }),
  })
  const engine = await stoppedAtEnd(starting, { atEnd })
  const micros = treeProcessor(engine.pid)
  return { port, cpuMicros: async () => micros(), stop: engine.stop }
}

export function nginxVersion(path: string): string {
  // `nginx -v` writes to stderr: `nginx version: nginx/1.22.1`.
  const { stderr } = spawnSync(path, ['-v'], { encoding: 'utf8' })
  return /nginx\/(\S+)/.exec(stderr)?.[1] ?? 'of unknown version'
}

/** The configuration. The limits guard a file and not a `return`, because nginx runs `return` before the limits. */
export function configOf(guard: NginxGuard, port: number, folder: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`)
  return [
    // If root starts nginx, its workers run as another user by default, who may not read the folder. So they run as root.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr crit;`,
    'events { worker_connections 4096; }',
    'http {',
    `  access_log off; keepalive_timeout 600s; keepalive_requests 100000000; ${temporary.join(' ')}`,
    ...(guard.kind === 'limit_req' ? [`  limit_req_zone $http_x_api_key zone=clients:10m rate=${rateOf(guard.quota)};`] : []),
    ...(guard.kind === 'auth_request' ? [`  upstream sluice { server 127.0.0.1:${guard.port}; keepalive 64; }`] : []),
    '  server {',
    `    listen 127.0.0.1:${port};`,
    `    root ${folder}/site;`,
    '    location = /ready { return 200; }',
    '    location = /item {',
    ...guardLines(guard),
    '    }',
    ...(guard.kind === 'auth_request' ? AUTH : []),
    '  }',
    '}',
    '',
  ].join('\n')
}

/** nginx lets one more through than its burst. Its slowest rate is one a minute. */
function guardLines(guard: NginxGuard): string[] {
  switch (guard.kind) {
    case 'bare':
      return []
    case 'limit_req': {
      const burst = guard.quota.burst - 1
      return [`      limit_req zone=clients${burst === 0 ? '' : ` burst=${burst} nodelay`}; limit_req_status 429;`]
    }
    case 'auth_request':
      return [
        '      auth_request /sluice;',
        '      auth_request_set $ratelimit $upstream_http_ratelimit;',
        '      auth_request_set $ratelimit_policy $upstream_http_ratelimit_policy;',
        '      auth_request_set $retry_after $upstream_http_retry_after;',
        '      error_page 403 = @limited;',
        '      add_header RateLimit $ratelimit always; add_header RateLimit-Policy $ratelimit_policy always;',
      ]
  }
}

/** As in `examples/nginx`. */
const AUTH: readonly string[] = [
  '    location = /sluice {',
  '      internal;',
  '      proxy_pass http://sluice/v1/auth?denied=403;',
  '      proxy_http_version 1.1; proxy_pass_request_body off;',
  '      proxy_set_header Connection ""; proxy_set_header Content-Length "";',
  '      proxy_set_header X-Original-Method $request_method; proxy_set_header X-Original-URI $request_uri;',
  '      proxy_set_header X-Original-Host $host; proxy_set_header X-Forwarded-For $remote_addr;',
  '      proxy_set_header X-Forwarded-Host ""; proxy_set_header X-Forwarded-Method ""; proxy_set_header X-Forwarded-Uri "";',
  '    }',
  '    location @limited {',
  '      default_type application/problem+json;',
  '      add_header RateLimit $ratelimit always; add_header RateLimit-Policy $ratelimit_policy always; add_header Retry-After $retry_after always;',
  `      return 429 '{"title":"Quota Exceeded","status":429}';`,
  '    }',
]

function rateOf({ tokens, per }: Quota): string {
  if (per === '1d') throw new RangeError('nginx counts by the second or the minute')
  return `${tokens}r/${per === '1s' ? 's' : 'm'}`
}
