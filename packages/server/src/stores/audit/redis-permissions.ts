import type { Redis } from 'ioredis'
import type { FindingList } from './report.ts'

type Command = readonly string[]

/** What Lua programs and clients call, with arguments that a dry run accepts. K stands for a key of the store. */
const NEEDED: readonly Command[] = [
  ['evalsha', 'x', '0'],
  ['eval', 'return 1', '0'],
  ['time'],
  ['get', 'K'],
  ['mget', 'K'],
  ['set', 'K', 'v'],
  ['del', 'K'],
  ['getrange', 'K', '0', '0'],
  ['strlen', 'K'],
  ['setrange', 'K', '0', 'v'],
  ['append', 'K', 'v'],
  ['pexpireat', 'K', '1'],
  ['hget', 'K', 'f'],
  ['hmget', 'K', 'f'],
  ['hset', 'K', 'f', 'v'],
  ['hdel', 'K', 'f'],
  ['hrandfield', 'K'],
  ['ping'],
  ['info'],
]
/** These change nothing, so they can be tried without a dry run. */
const HARMLESS: ReadonlySet<string> = new Set(['time', 'get', 'mget', 'getrange', 'strlen', 'hget', 'hmget', 'hrandfield', 'ping', 'info'])
/** Commands that a stolen password should not allow. `other` stands for a key outside the prefix. */
const DANGEROUS: readonly Command[] = [
  ['flushall'],
  ['config', 'set', 'maxmemory', '0'],
  ['acl', 'setuser', 'x'],
  ['script', 'flush'],
  ['shutdown'],
  ['debug', 'sleep', '0'],
  ['keys', '*'],
  ['get', 'other'],
]

/** If the account may not call `ACL DRYRUN`, only commands that change nothing are tried. */
export async function addPermissions(list: FindingList, node: Redis, prefix: string, username: string): Promise<void> {
  const key = `${prefix}{audit}`
  const filled = (command: Command): string[] => command.map((word) => (word === 'K' ? key : word))
  const me = String(await node.call('acl', 'whoami').catch(() => username))
  const dry = (command: Command): Promise<boolean | undefined> => dryRun(node, me, filled(command))
  const known = await dry(['time'])
  const missing: string[] = []
  for (const command of NEEDED) {
    const name = command[0] as string
    const may = known === undefined ? await tried(node, filled(command)) : await dry(command)
    if (may === false) missing.push(name)
  }
  const grant = missing.map((name) => `+${name}`).join(' ')
  const why = 'the programs of the store call these commands, so that calls fail as setup'
  list.add(
    missing.length > 0,
    'permissions-missing',
    'error',
    `the account may not call ${missing.join(', ')}`,
    why,
    `ACL SETUSER NAME ${grant}`,
  )
  if (known === undefined)
    return list.add(
      true,
      'permissions-unknown',
      'note',
      'the account may not call ACL DRYRUN, so commands that write were not checked',
      'a missing right would be found only by a call',
      'run sluice verify with this account, or audit with one that has +acl|whoami +acl|dryrun',
    )
  const excess: string[] = []
  for (const command of DANGEROUS)
    if ((await dry(command)) === true) excess.push(command.at(-1) === 'other' ? 'keys of others' : nameOf(command))
  list.add(
    excess.length > 0,
    'permissions-excess',
    'warning',
    `the account may use ${excess.join(', ')}, which the store never does`,
    'a stolen password, or a mistake in another program, could delete or change everything on the server',
    `give the store an account of its own: the ACL line in docs/stores/redis.md, with ~${prefix}*`,
  )
}

function nameOf(command: Command): string {
  const [name = '', second = ''] = command
  return ['config', 'acl', 'script', 'debug'].includes(name) ? `${name} ${second}` : name
}

/** Undefined if the dry run is not possible. */
async function dryRun(node: Redis, account: string, command: readonly string[]): Promise<boolean | undefined> {
  try {
    return (await node.call('acl', 'dryrun', account, ...command)) === 'OK'
  } catch (error) {
    // A command that this version does not have is not allowed either.
    return /^(?:NOPERM|ERR (?:unknown (?:command|subcommand)|User))/i.test((error as Error).message) ? undefined : false
  }
}

/** `evalsha` is called with the digest of no script, so nothing runs. */
async function tried(node: Redis, command: readonly string[]): Promise<boolean | undefined> {
  const [name = '', ...args] = command
  if (!HARMLESS.has(name) && name !== 'evalsha') return undefined
  try {
    await node.call(name, ...(name === 'evalsha' ? ['0'.repeat(40), '0'] : args))
    return true
  } catch (error) {
    return !(error as Error).message.startsWith('NOPERM')
  }
}
