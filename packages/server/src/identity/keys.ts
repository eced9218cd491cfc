import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { createLocalJWKSet, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose'
import { LimiterError } from 'sluice'
import { mapInSlices } from '../policy/in-slices.ts'
import { readNamed } from '../files/secret-file.ts'

/** The keys that verify signatures: a secret, or public keys. The policy's algorithms prevent using one as the other. */
export type TokenKeys = Uint8Array | JWTVerifyGetKey

const KEY_TYPES: readonly unknown[] = ['RSA', 'EC', 'OKP']

export interface KeySet {
  readonly text: string
  readonly keys: JWTVerifyGetKey
}

/**
 * Reads the public keys in a file that a policy names.
 * @throws LimiterError INVALID_POLICY for a file that cannot be read or holds no key that could verify a token
 */
export function readKeySet(policyFile: string, name: string): KeySet {
  const text = textIn(policyFile, name)
  const set = parseSet(text, name)
  set.keys.forEach((key, index) => refuseBroken(key, index, name))
  return { text, keys: createLocalJWKSet(set) }
}

/** As `readKeySet`, in slices; rejects if that throws. */
export async function readKeySetInSlices(policyFile: string, name: string): Promise<KeySet> {
  const text = textIn(policyFile, name)
  return { text, keys: await keySetOf(text, name) }
}

/** As `readKeySetInSlices`, for a text that was already read. */
export async function keySetOf(text: string, name: string): Promise<JWTVerifyGetKey> {
  const set = parseSet(text, name)
  let index = 0
  await mapInSlices(set.keys, (key) => refuseBroken(key, index++, name))
  return createLocalJWKSet(set)
}

function textIn(policyFile: string, name: string): string {
  return Buffer.from(readNamed(policyFile, name, 'jwt.jwksFile')).toString('utf8')
}

function wrong(file: string, why: string, options?: ErrorOptions): LimiterError {
  return new LimiterError('INVALID_POLICY', `jwt.jwksFile ${file}: ${why}`, options)
}

function parseSet(text: string, file: string): JSONWebKeySet {
  let set: unknown
  try {
    set = JSON.parse(text)
  } catch (error) {
    throw wrong(file, 'no JSON; expected a set of keys as an issuer publishes it: {"keys": [...]}', { cause: error })
  }
  const keys = typeof set === 'object' && set !== null ? (set as Record<string, unknown>)['keys'] : undefined
  if (!Array.isArray(keys)) throw wrong(file, 'no set of keys; expected {"keys": [...]}')
  // A set may hold keys of other types for other uses. They are ignored, because none of them verifies a token.
  const usable = keys.filter((key: unknown): key is JWK => isKey(key) && KEY_TYPES.includes(key.kty) && (key.use ?? 'sig') === 'sig')
  if (usable.length === 0)
    throw wrong(file, 'no key in it can verify a token; expected one with kty RSA, EC or OKP that is not for encryption')
  return { keys: usable }
}

function isKey(key: unknown): key is JWK {
  return typeof key === 'object' && key !== null
}

/** Rejects a broken key now instead of at the first token. */
function refuseBroken(key: JWK, index: number, file: string): void {
  const name = key.kid === undefined ? `key ${index + 1}` : `key ${JSON.stringify(key.kid)}`
  if (key.d !== undefined) throw wrong(file, `${name} is a private key; expected public ones`)
  try {
    createPublicKey({ key: key as JsonWebKey, format: 'jwk' })
  } catch (error) {
    throw wrong(file, `${name} cannot be used: ${(error as Error).message}`, { cause: error })
  }
}
