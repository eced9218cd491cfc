import { fileURLToPath } from 'node:url'
import { usage } from '../../cli/failure.ts'
import type { Io } from '../../cli/io.ts'
import { oneOf, wholeNumber } from '../../cli/parse-arguments.ts'
import { storeUrlOf } from '../../cli/store-flags.ts'
import type { ParsedArguments } from '../../cli/verb.ts'
import { connectionBounds } from '../../http/connection-bound.ts'
import { isLoopback, listenOf } from '../../http/port.ts'
import { hostsAllowed, readHosts } from '../../http/site-guard.ts'
import { type DecisionLogChoice, DEFAULT_SAMPLE } from '../../logs/decision-log.ts'
import { FORMATS, LEVELS } from '../../logs/log.ts'
import { policyPlace } from '../../policy/policy-place.ts'
import { regionArguments } from '../../regions/options.ts'

const DEMO_POLICY = fileURLToPath(new URL('../../../policies/rate-limiting-at-scale.yaml', import.meta.url))

export type ServeOptions = ReturnType<typeof serveOptions>

/** @throws CommandFailure exit 3 for a value that cannot be used, or with neither a policy nor --demo */
export function serveOptions(args: ParsedArguments, io: Io) {
  const [policy, adminTokenFile, demo] = [args.words[0], args.text('admin-token-file'), args.switch('demo')]
  const connections = connectionBounds(wholeNumber(args, 'max-connections', undefined, 1, 1_000_000))
  const listen = listenOf(args.text('listen'), args.called('listen'), io.env['PORT'], adminTokenFile !== undefined)
  const workers = wholeNumber(args, 'workers', 1, 1, 256)
  const names = readHosts(args.texts('allowed-host'), args.called('allowed-host'))
  return {
    store: storeUrlOf('serve', args, io),
    workers,
    /** Undefined without arguments about regions. */
    region: regionArguments(args),
    listen,
    demo,
    lines: {
      format: oneOf(args, 'log-format', FORMATS, io.terminal === true ? 'text' : 'json'),
      level: oneOf(args, 'log-level', LEVELS, 'info'),
    },
    decisionLog: decisionLogChoice(args),
    requireStore: args.switch('require-store'),
    adminTokenFile,
    connections,
    /** Undefined if requests may name any host. */
    hosts: isLoopback(listen.host) || names.length > 0 ? hostsAllowed(names) : undefined,
    place: policyPlace(policy ?? (demo ? DEMO_POLICY : missingPolicy()), args),
  }
}

/** @throws CommandFailure exit 3 for a sample without a decision log */
function decisionLogChoice(args: ParsedArguments): DecisionLogChoice | undefined {
  const target = args.text('decision-log')
  const sample = wholeNumber(args, 'decision-log-sample', undefined, 1, 1_000_000)
  if (target !== undefined) return { target, sample: sample ?? DEFAULT_SAMPLE }
  if (sample !== undefined) throw usage(`serve: ${args.called('decision-log-sample')} needs --decision-log FILE`)
  return undefined
}

function missingPolicy(): never {
  throw usage('serve: give a policy file, or --demo for the one that comes along')
}
