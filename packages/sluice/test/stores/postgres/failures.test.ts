import { describe, expect, it } from 'vitest'
import { classify, isConflict } from '../../../src/stores/postgres/failures.ts'

function coded(code: string, message = 'it went wrong'): Error {
  return Object.assign(new Error(message), { code })
}

describe('failures of PostgreSQL', () => {
  it.each([
    ['40001', 'contention', 'no'],
    ['40P01', 'contention', 'no'],
    ['55P03', 'contention', 'no'],
    ['23505', 'contention', 'no'],
    ['22012', 'contention', 'no'],
    ['40003', 'protocol', 'unknown'],
    ['25006', 'readonly', 'no'],
    ['57014', 'timeout', 'no'],
    ['57P01', 'unavailable', 'no'],
    ['57P02', 'unavailable', 'no'],
    ['57P03', 'unavailable', 'no'],
    ['53300', 'unavailable', 'no'],
    ['53100', 'memory', 'no'],
    ['53200', 'memory', 'no'],
    ['28P01', 'setup', 'no'],
    ['28000', 'setup', 'no'],
    ['3D000', 'setup', 'no'],
    ['3F000', 'setup', 'no'],
    ['42501', 'setup', 'no'],
    ['42883', 'setup', 'no'],
    ['42P01', 'setup', 'no'],
    ['SL001', 'setup', 'no'],
    ['08006', 'connection', 'unknown'],
    ['08P01', 'connection', 'unknown'],
    ['22003', 'protocol', 'no'],
    ['P0001', 'protocol', 'no'],
    ['XX000', 'protocol', 'no'],
  ])('SQLSTATE %s: %s, executed %s', (code, kind, executed) => {
    const error = coded(code)
    expect(classify(error)).toMatchObject({ name: 'StoreFailure', kind, executed, cause: error })
    expect(classify(error).message).toContain(`postgres: ${code} it went wrong`)
  })

  it.each(['42883', '42P01'])('%s says what to do about missing tables', (code) => {
    expect(classify(coded(code)).message).toContain('run "sluice migrate --store URL"')
  })

  it.each([
    ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432', 'no'],
    ['ECONNREFUSED', '', 'no'],
    ['ENOENT', 'connect ENOENT /tmp/.s.PGSQL.5432', 'no'],
    ['ENOTFOUND', 'getaddrinfo ENOTFOUND db.internal', 'no'],
    ['', 'timeout exceeded when trying to connect', 'no'],
    ['', 'Connection terminated due to connection timeout', 'no'],
    ['', 'timeout expired', 'no'],
    ['', 'Cannot use a pool after calling end on the pool', 'no'],
    ['CONNECT_TIMEOUT', 'write CONNECT_TIMEOUT 127.0.0.1:5432', 'no'],
    ['CONNECTION_ENDED', 'write CONNECTION_ENDED 127.0.0.1:5432', 'no'],
    ['CONNECTION_CLOSED', 'write CONNECTION_CLOSED 127.0.0.1:5432', 'unknown'],
    ['', 'Connection terminated unexpectedly', 'unknown'],
    ['', 'Query read timeout', 'unknown'],
    ['ECONNRESET', 'read ECONNRESET', 'unknown'],
    ['EPIPE', 'write EPIPE', 'unknown'],
  ])('%s %s: connection, executed %s', (code, message, executed) => {
    expect(classify(coded(code, message))).toMatchObject({ kind: 'connection', executed })
  })

  it('what is no error at all is not known to be harmless', () => {
    expect(classify('gone')).toMatchObject({ kind: 'connection', executed: 'unknown', message: 'postgres: gone' })
    expect(classify(undefined)).toMatchObject({ kind: 'connection', executed: 'unknown' })
  })

  it('knows what is worth another try', () => {
    expect(['40001', '40P01', '23505', '22012', '55P03', '57014', '40003'].map((code) => isConflict(coded(code)))).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ])
    expect(isConflict(null)).toBe(false)
  })
})
