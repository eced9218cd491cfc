import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type Engine, findPostgres, findRedis, startPostgres, startRedis } from '../engines/index.ts'
import type { EngineName } from './rooms.ts'

/** The servers of one tester, on which changed programs run. */
export interface Servers {
  readonly urls: Readonly<Partial<Record<EngineName, string>>>
  /** Empties the servers. @returns false if one of them is busy with a script that does not end */
  clear(): Promise<boolean>
  /** @returns true if a script has been running for longer than a second */
  busy(): Promise<boolean>
  /** @returns false if the server refuses one of the Lua programs */
  compiles(programs: readonly string[]): Promise<boolean>
  /** @returns false if one of the statements fails; all of them are rolled back in any case */
  installs(statements: readonly string[]): Promise<boolean>
  stop(): Promise<void>
}

/**
 * Milliseconds. A statement that takes longer is taken to never end. The limit is longer than a test may take, because some tests would
 * accept the error as an answer.
 */
const STATEMENT_MS = 70_000
/** Ends the statements of a process that was killed. They would otherwise go on for up to STATEMENT_MS and slow down later tests. */
const END_OTHERS = `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`
/** Milliseconds after which Redis answers other clients while a script runs. */
const BUSY_MS = 1_000
const ANSWER_MS = 5_000

/** @throws Error if a server cannot be found or started */
export async function startServers(root: string, names: readonly EngineName[]): Promise<Servers> {
  const redis = names.includes('redis')
    ? await startRedis(pathOf('redis', findRedis()), ['--busy-reply-threshold', String(BUSY_MS)])
    : undefined
  const postgres = names.includes('postgres')
    ? await startPostgres(pathOf('postgres', findPostgres()), ['-c', `statement_timeout=${STATEMENT_MS}`, '-c', 'fsync=off'])
    : undefined
  const engines = [redis, postgres].filter((engine): engine is Engine => engine !== undefined)
  const client = postgres === undefined ? undefined : await connected(root, postgres.url)
  const replyTo = async (...command: readonly string[]): Promise<string> =>
    redis === undefined ? '+OK' : replyOf(Number(new URL(redis.url).port), command)
  return {
    urls: { ...(redis === undefined ? {} : { redis: redis.url }), ...(postgres === undefined ? {} : { postgres: postgres.url }) },
    clear: async () => {
      await client?.query(END_OTHERS)
      return (await replyTo('FLUSHALL')).startsWith('+')
    },
    busy: async () => !(await replyTo('PING')).startsWith('+'),
    compiles: async (programs) => {
      for (const program of programs) if ((await replyTo('SCRIPT', 'LOAD', program)).startsWith('-')) return false
      return true
    },
    installs: async (statements) => {
      if (client === undefined) return true
      await client.query('begin')
      try {
        await client.query('create schema tried; set local search_path = tried')
        for (const statement of statements) await client.query(statement)
        return true
      } catch {
        return false
      } finally {
        await client.query('rollback')
      }
    },
    stop: async () => {
      await client?.end().catch(() => {})
      await Promise.all(engines.map((engine) => engine.stop()))
    },
  }
}

function pathOf(name: string, found: { readonly path: string } | { readonly missing: string }): string {
  if ('path' in found) return found.path
  throw new Error(`mutants of programs are run on ${name}: ${found.missing}`)
}

interface Client {
  connect(): Promise<void>
  query(text: string): Promise<unknown>
  end(): Promise<void>
  on(event: 'error', listener: () => void): void
}

/** A connection by the driver that the tests of the library use. */
async function connected(root: string, connectionString: string): Promise<Client> {
  const require = createRequire(join(root, 'packages', 'sluice', 'package.json'))
  const { Client: Made } = require('pg') as { Client: new (options: { connectionString: string }) => Client }
  const client = new Made({ connectionString })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** The first line of Redis's reply; an error line if no reply comes. */
function replyOf(port: number, command: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
      socket.write(`*${command.length}\r\n${parts.join('')}`)
    })
    const finish = (reply: string): void => {
      socket.destroy()
      resolve(reply)
    }
    socket.once('data', (data) => finish(data.toString().split('\r\n')[0] ?? ''))
    socket.once('error', (error) => finish(`-${error.message}`))
    socket.once('close', () => finish('-closed'))
    socket.setTimeout(ANSWER_MS, () => finish('-no reply'))
  })
}
