#!/usr/bin/env node
import { listenOf, parse } from './arguments.ts'
import { check } from './commands/check.ts'
import { serve } from './commands/serve.ts'
import { CommandFailure, EXIT } from './failure.ts'

const USAGE = `usage: sluice serve [POLICY] [--listen HOST:PORT] [--store URL] [--demo] [--admin-token-file FILE]
       sluice check POLICY [--json]

serve   the decision service: decisions, forward-auth, administration, health, metrics, and a page at / (docs/service.md)
        --listen   default 127.0.0.1:8080, or PORT from the environment
        --store    memory: (default), redis://..., postgres://..., pglite:DIR
        --demo     a small backend behind the policy, by default that of Rate Limiting at Scale
        --admin-token-file   who bears this token may change the policy and keys; needed where others reach the address
check   validates a policy and says what it means

exit codes: 0 ok, 1 failed, 2 a server could not be reached, 3 usage
`

async function main(args: readonly string[]): Promise<void> {
  const [verb, ...rest] = args
  switch (verb) {
    case 'serve': {
      const { values, positionals } = parse({
        args: rest,
        allowPositionals: true,
        options: {
          listen: { type: 'string' },
          store: { type: 'string' },
          demo: { type: 'boolean', default: false },
          'admin-token-file': { type: 'string' },
        },
      })
      const [policy, extra] = positionals
      if (extra !== undefined) throw new CommandFailure(EXIT.usage, `serve takes one policy, not also ${extra}`)
      const tokenFile = values['admin-token-file']
      return serve({
        listen: listenOf(values.listen, process.env['PORT'], tokenFile !== undefined),
        demo: values.demo,
        ...(tokenFile === undefined ? {} : { adminTokenFile: tokenFile }),
        ...(policy === undefined ? {} : { policy }),
        ...(values.store === undefined ? {} : { store: values.store }),
      })
    }
    case 'check': {
      const { values, positionals } = parse({ args: rest, allowPositionals: true, options: { json: { type: 'boolean', default: false } } })
      const [policy, extra] = positionals
      if (policy === undefined || extra !== undefined) throw new CommandFailure(EXIT.usage, 'check takes exactly one policy file')
      return check(policy, values.json)
    }
    case 'help':
    case '--help':
    case '-h':
      process.stdout.write(USAGE)
      return
    default:
      throw new CommandFailure(EXIT.usage, `${verb === undefined ? 'no command given' : `unknown command ${verb}`}\n${USAGE}`)
  }
}

main(process.argv.slice(2)).then(
  () => process.exit(EXIT.ok),
  (error: unknown) => {
    const known = error instanceof CommandFailure
    process.stderr.write(
      `sluice: ${known ? error.message.trimEnd() : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    )
    process.exit(known ? error.exitCode : EXIT.failed)
  },
)
