import { resolve } from 'node:path'
import { LimiterError } from 'sluice'
import { parseDuration, type Policy } from 'sluice/policy'
import { CommandFailure, failed, unreachable, usage, wrongValue } from '../cli/failure.ts'
import { readToken } from '../cli/token-file.ts'
import type { ParsedArguments } from '../cli/verb.ts'
import type { ReadOptions } from '../files/regular-file.ts'
import type { WatchedFile } from '../files/watch-file.ts'
import type { Log } from '../logs/log.ts'
import { readCertificates } from '../stores/tls-files.ts'
import { fetchPolicy, type FetchOptions, isAllowed, reasonOf, type Validators, WrongAnswer } from './fetch-policy.ts'
import type { HeldPolicy } from './held-policy.ts'
import { polling, type PollOptions } from './polling.ts'
import { type Candidate, parseCandidate, readPolicyText } from './read-policy.ts'
import { reloading } from './reloading.ts'

const DEFAULT_INTERVAL_MS = 30_000
const MIN_INTERVAL_MS = 1_000
const MAX_INTERVAL_MS = 86_400_000

export const POLICY_FLAGS = {
  'policy-ca FILE': "certificates (PEM) that may sign that of the policy at https://..., instead of the system's",
  'policy-token-file FILE': 'the bearer token that the server of the policy expects; read at each request',
}
export const INTERVAL_FLAG = {
  'policy-interval DURATION': 'time between two requests for a policy at https://..., default 30s, varied by a quarter',
}

export interface Replace {
  readonly file: HeldPolicy['replace']
  readonly fetched: PollOptions['replace']
  /** How many policies were taken. */
  loaded(): number
}

/** A policy of a file or URL. */
export interface PlacedPolicy {
  readonly policy: Policy
  /** The text of `policy`. */
  readonly candidate: Candidate & { readonly text: string }
  /** Follows the changes of the place since `candidate`. */
  watch(replace: Replace, log: Log): WatchedFile
}

export interface PolicyPlace {
  /** The file's name, or the URL without its query, which may be secret. */
  readonly name: string
  /** Files that the policy names are relative to this file's folder; for a URL, to the working directory. */
  readonly file: string
  /** @throws CommandFailure exit 1 for a policy with mistakes or that cannot be read; exit 2 if its server cannot be reached */
  read(options?: ReadOptions): Promise<PlacedPolicy>
  /**
   * For a text that another process read: what the place has now is only watched, so it may be bad or away.
   * @throws CommandFailure exit 1 for a policy with mistakes
   */
  resume(candidate: PlacedPolicy['candidate']): PlacedPolicy
}

/** @throws CommandFailure exit 3 for a URL, a flag or a file of certificates that cannot be used */
export function policyPlace(named: string, args: ParsedArguments): PolicyPlace {
  if (/^https?:\/\//i.test(named)) return remotePlace(named, args)
  for (const flag of [...Object.keys(POLICY_FLAGS), ...Object.keys(INTERVAL_FLAG)].map((form) => form.split(' ')[0] as string))
    if (args.origin(flag) === 'flag') throw usage(`--${flag} is for a policy at https://...; ${named} is a file`)
  const placed = (policy: Policy, candidate: PlacedPolicy['candidate']): PlacedPolicy => ({
    policy,
    candidate,
    watch: ({ file, loaded }, log) => reloading(file, loaded, named, candidate.text, log),
  })
  return {
    name: named,
    file: named,
    async read(options) {
      const { policy, text } = readPolicyText(named, options)
      return placed(policy, { text, filename: named })
    },
    resume: (candidate) => placed(parseCandidate(candidate), candidate),
  }
}

function remotePlace(named: string, args: ParsedArguments): PolicyPlace {
  const url = URL.canParse(named) ? new URL(named) : undefined
  const name = url === undefined ? unparsableName(named) : `${url.origin}${url.pathname}`
  if (url === undefined || !isAllowed(url))
    throw usage(`policy ${name}: expected https://HOST/PATH; http:// is for addresses of this machine alone, such as 127.0.0.1`)
  if (url.username + url.password !== '') throw usage(`policy ${name}: its URL has a login; expected none: use --policy-token-file`)
  url.hash = ''
  const options = fetchOptionsOf(args)
  const intervalMs = intervalOf(args)
  const fetchAgain = (last: Validators) => fetchPolicy(url, options, last)
  const placed = (candidate: Candidate, validators?: Validators): PlacedPolicy => {
    const first = { ...candidate, validators: validators ?? {} }
    // Only a text that this process fetched is as new as its start.
    const firstPauseMs = validators === undefined ? 0 : undefined
    return {
      policy: parseCandidate(candidate),
      // The parser refuses bytes that are not text.
      candidate: candidate as PlacedPolicy['candidate'],
      watch: ({ fetched, loaded }, log) =>
        polling({ name, fetch: fetchAgain, intervalMs, firstPauseMs, first, replace: fetched, loaded, log }),
    }
  }
  return {
    name,
    file: resolve('policy.yaml'),
    async read() {
      const fetched = await fetchPolicy(url, options).catch((error: unknown) => {
        throw failureOf(name, error)
      })
      if (fetched === undefined) throw failed(`policy ${name}: it answered 304 to the first request`)
      const { text, format, validators } = fetched
      return placed({ text, filename: name, ...(format === undefined ? {} : { format }) }, validators)
    },
    resume: (candidate) => placed(candidate),
  }
}

/** The end of its password is unknown, so only the scheme of a URL with an @ is printed. */
function unparsableName(named: string): string {
  return named.includes('@') ? `${named.split('//', 1)[0]}//***` : (named.split(/[?#]/, 1)[0] as string)
}

function failureOf(name: string, error: unknown): Error {
  if (error instanceof CommandFailure || !(error instanceof Error)) return error as Error
  if (error instanceof WrongAnswer) return failed(`policy ${name} cannot be read: ${error.message}`, { cause: error })
  return unreachable(`policy ${name} cannot be fetched: ${reasonOf(error)}`, { cause: error })
}

function fetchOptionsOf(args: ParsedArguments): FetchOptions {
  const [ca, tokenFile] = [args.text('policy-ca'), args.text('policy-token-file')]
  const token = (file: string) => (): string => readToken(`policy token file ${file}`, file)
  return {
    ca: ca === undefined ? undefined : readCertificates(`policy: ${args.called('policy-ca')} ${ca}`, ca),
    token: tokenFile === undefined ? undefined : token(tokenFile),
  }
}

function intervalOf(args: ParsedArguments): number {
  const text = args.text('policy-interval')
  if (text === undefined) return DEFAULT_INTERVAL_MS
  const ms = durationMs(text)
  if (ms >= MIN_INTERVAL_MS && ms <= MAX_INTERVAL_MS) return ms
  throw wrongValue(args.called('policy-interval'), text, 'a duration from 1s to 1d')
}

function durationMs(text: string): number {
  try {
    return parseDuration(text) / 1_000
  } catch (error) {
    if (error instanceof LimiterError) return Number.NaN
    throw error
  }
}
