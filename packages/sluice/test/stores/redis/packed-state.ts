import type { Redis } from 'ioredis'
import { namedOf, packedLayout } from '../../../src/stores/redis/layout.ts'
import { createPacking, type PackingOptions } from '../../../src/stores/redis/packed/packing.ts'
import { readValue, type Stored } from '../../../src/stores/redis/value.ts'
import type { StateId } from '../../../src/stores/store.ts'

/** Reads a state of the packed layout, in which states are members of hashes, as the programs read it (lua/storage/packed-value.lua). */
export async function packedState(client: Redis, prefix: string, packing: PackingOptions, id: StateId): Promise<Stored> {
  const named = namedOf(id)
  const packed = createPacking(prefix, packing)
  const [key = ''] = packedLayout(prefix, packed).addressesOf([named]).keys
  if (named.isLog) return readValue(await client.getBuffer(key))
  const { high, low } = packed.memberOf(named.name)
  const member = Buffer.alloc(8)
  member.writeUInt32BE(high, 0)
  member.writeUInt32BE(low, 4)
  const [value = null, head = null] = await client.hmgetBuffer(key, member, '')
  if (value === null || head === null || (value.length !== 13 && value.length !== 14)) return readValue(value)
  const plan = head.subarray(13 * (value[12] as number) - 7).subarray(0, 13)
  return readValue(Buffer.concat([value.subarray(0, 7), Buffer.from([0, 0, value[13] ?? 0]), value.subarray(7, 12), plan]))
}
