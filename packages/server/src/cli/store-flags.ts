import { readAs } from '../files/regular-file.ts'
import { hasPassword, withoutPassword } from '../stores/store-name.ts'
import { failed, usage } from './failure.ts'
import { type Io, warningTo } from './io.ts'
import type { ParsedArguments } from './verb.ts'

/** @param does the description of `--store` */
export function storeFlags(does: string): { readonly 'store URL': string; readonly 'store-file FILE': string } {
  return { 'store URL': does, 'store-file FILE': 'a file with that URL, so that its password is in no list of processes' }
}

/**
 * Warns of a password on the command line.
 * @throws CommandFailure exit 3 if URL and file are both given by flags or both by variables, or the file is not a single line; exit 1 if
 * the file cannot be read
 */
export function storeUrlOf(verb: string, args: ParsedArguments, io: Io): string | undefined {
  const [direct, file] = [args.origin('store'), args.origin('store-file')]
  if (direct !== undefined && direct === file)
    throw usage(`${verb}: ${args.called('store')} and ${args.called('store-file')} exclude each other: give the URL or its file`)
  const url = args.text('store')
  if (file !== undefined && (file === 'flag' || direct === undefined)) return urlIn(args.text('store-file') as string)
  if (direct === 'flag' && url !== undefined && hasPassword(url))
    warningTo(io)(`the password in --store ${withoutPassword(url)} may be read in lists of processes; use --store-file or SLUICE_STORE`)
  return url
}

function urlIn(file: string): string {
  const text = readAs(`store file ${file}`, file, failed, { pipes: true }).toString('utf8').trim()
  if (text !== '' && !/\s/.test(text)) return text
  throw usage(`store file ${file}: expected one line with the URL of a store`)
}
