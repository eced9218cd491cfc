import { describe, expect, it } from 'vitest'
import { classify, isNoScript } from '../../../src/stores/redis/failures.ts'

describe('failures of Redis', () => {
  it.each([
    ['LOADING Redis is loading the dataset in memory', 'unavailable', 'no'],
    ['BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.', 'unavailable', 'no'],
    ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'unavailable', 'no'],
    ['CLUSTERDOWN The cluster is down', 'unavailable', 'no'],
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'unavailable', 'no'],
    ['MOVED 3999 127.0.0.1:6381', 'unavailable', 'no'],
    ['ASK 3999 127.0.0.1:6381', 'unavailable', 'no'],
    ['NOREPLICAS Not enough good replicas to write.', 'unavailable', 'no'],
    ['ERR max number of clients reached', 'unavailable', 'no'],
    ["READONLY You can't write against a read only replica.", 'readonly', 'no'],
    ['MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.', 'readonly', 'no'],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'memory', 'no'],
    ['ERR Protocol error: unauthenticated multibulk length', 'setup', 'no'],
    ['NOAUTH Authentication required.', 'setup', 'no'],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'setup', 'no'],
    ["NOPERM this user has no permissions to run the 'evalsha' command", 'setup', 'no'],
    ['DENIED Redis is running in protected mode because protected mode is enabled', 'setup', 'no'],
    ["CROSSSLOT Keys in request don't hash to the same slot", 'setup', 'no'],
    ['ERR Error running script: user_script:1: attempt to compare number with nil', 'protocol', 'unknown'],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'protocol', 'unknown'],
    ["Stream isn't writeable and enableOfflineQueue options is false", 'connection', 'no'],
    ['connect ECONNREFUSED 127.0.0.1:6379', 'connection', 'no'],
    ['getaddrinfo ENOTFOUND redis.internal', 'connection', 'no'],
    ['connect EHOSTUNREACH 10.0.0.1:6379', 'connection', 'no'],
    ["Cluster isn't ready and enableOfflineQueue options is false", 'connection', 'no'],
    ['None of startup nodes is available', 'connection', 'no'],
    ['The client is offline', 'connection', 'no'],
    ['The client is closed', 'connection', 'no'],
    ['All the root nodes are unavailable', 'connection', 'no'],
    ['Too many Cluster redirections. Last error: ReplyError: MOVED 1 127.0.0.1:1', 'unavailable', 'no'],
    ['Socket closed unexpectedly', 'connection', 'unknown'],
    ['read EHOSTUNREACH', 'connection', 'unknown'],
    ['read ECONNRESET', 'connection', 'unknown'],
    ['write EPIPE', 'connection', 'unknown'],
    ['Connection is closed.', 'connection', 'unknown'],
    ['Command timed out', 'connection', 'unknown'],
  ])('%s', (message, kind, executed) => {
    const error = new Error(message)
    expect(classify(error)).toMatchObject({ name: 'StoreFailure', kind, executed, message: `redis: ${message}`, cause: error })
  })

  it('what is no error at all is not known to be harmless', () => {
    expect(classify('gone')).toMatchObject({ kind: 'connection', executed: 'unknown' })
    expect(classify(undefined)).toMatchObject({ kind: 'connection', executed: 'unknown' })
  })

  it('knows an emptied script cache', () => {
    expect(isNoScript(new Error('NOSCRIPT No matching script. Please use EVAL.'))).toBe(true)
    expect(isNoScript(new Error('ERR NOSCRIPT'))).toBe(false)
    expect(isNoScript('NOSCRIPT')).toBe(false)
  })
})
