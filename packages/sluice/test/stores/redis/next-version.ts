import { createHash } from 'node:crypto'
import type { RedisPort } from '../../../src/stores/redis/clients/redis-port.ts'
import * as programs from '../../../src/stores/redis/programs.gen.ts'

/** A first line that makes programs of a later version. They do the same as today's, and only their digests differ, as after any edit. */
const EDITED = "local version = 'next'\n"

/**
 * Makes programs of a later version that write states in a new form: the byte 1, then today's bytes, with a block if there is one. They
 * also read today's form. The table `redis` is replaced by one that converts values as they are read and written.
 */
const NEW_STATES = `local today, redis = redis, {}
local function plain(value)
  if type(value) == 'string' and string.byte(value) == 1 then return string.sub(value, 2) end
  return value
end
local function is_new(key)
  return today.call('GETRANGE', key, 0, 0) == '\\1'
end
local function called(call, command, key, ...)
  if not key then return call(command) end
  local args = { ... }
  if command == 'GET' then return plain(call(command, key)) end
  -- The member without a name is not a state.
  if command == 'HGET' and args[1] ~= '' then return plain(call(command, key, args[1])) end
  if command == 'MGET' or command == 'HMGET' then
    local found = call(command, key, ...)
    for index = 1, #found do
      if command == 'MGET' or args[index] ~= '' then found[index] = plain(found[index]) end
    end
    return found
  end
  if command == 'SET' then return call(command, key, '\\1' .. args[1], unpack(args, 2)) end
  if command == 'HSET' and args[1] ~= '' then return call(command, key, args[1], '\\1' .. args[2], unpack(args, 3)) end
  -- Parts of logs. One of today's gets the byte before it is written to.
  local parts = command == 'GETRANGE' or command == 'SETRANGE' or command == 'STRLEN' or command == 'APPEND'
  if not parts or today.call('TYPE', key).ok ~= 'string' then return call(command, key, ...) end
  local new = is_new(key)
  if not new and (command == 'SETRANGE' or command == 'APPEND') then
    today.call('SET', key, '\\1' .. today.call('GET', key), 'KEEPTTL')
    new = true
  end
  if not new or command == 'APPEND' then return call(command, key, ...) end
  if command == 'STRLEN' then return call(command, key) - 1 end
  if command == 'SETRANGE' then return call(command, key, args[1] + 1, args[2]) end
  local last = args[2]
  if last >= 0 then last = last + 1 end
  return call(command, key, args[1] + 1, last)
end
for name, value in pairs(today) do redis[name] = value end
function redis.call(...) return called(today.call, ...) end
function redis.pcall(...) return called(today.pcall, ...) end
`

/**
 * A client in a process of the later version. Whenever a program of today is called, it sends the later version of that program.
 * @param states `new` if that version writes states in a new form
 */
export function nextVersion(port: RedisPort, states: 'same' | 'new'): RedisPort {
  const texts = new Map(Object.values(programs).map(({ sha1, source }) => [sha1, (states === 'new' ? NEW_STATES : EDITED) + source()]))
  const digests = new Map([...texts].map(([sha1, text]) => [sha1, createHash('sha1').update(text).digest('hex')]))
  const sha1Of = new Map(Object.values(programs).map(({ sha1, source }) => [source(), sha1]))
  return {
    ...port,
    evalsha: (sha1, keys, args) => port.evalsha(digests.get(sha1) as string, keys, args),
    eval: (source, keys, args) => port.eval(texts.get(sha1Of.get(source) as string) as string, keys, args),
  }
}
