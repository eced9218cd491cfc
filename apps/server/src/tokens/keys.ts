import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { createLocalJWKSet, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose'
import { LimiterError } from 'sluice'
import type { JwtChoice } from 'sluice/policy'
import { readNamed, readSecret } from '../secret-file.ts'

/** What signatures are checked with: a secret, or public keys. The policy's algorithms never let one be taken for the other. */
export type TokenKeys = Uint8Array | JWTVerifyGetKey

const KEY_TYPES: readonly unknown[] = ['RSA', 'EC', 'OKP']

/**
 * The keys that a policy names, or undefined where tokens were verified upstream.
 * @throws LimiterError INVALID_POLICY for a file that cannot be read or holds no key that could verify a token
 */
export function readTokenKeys(policyFile: string, choice: JwtChoice): TokenKeys | undefined {
  if (choice.by === 'upstream') return undefined
  if (choice.by === 'secret') return readSecret(policyFile, choice.file, 'jwt.secretFile')
  const set = parseSet(Buffer.from(readNamed(policyFile, choice.file, 'jwt.jwksFile')).toString('utf8'), choice.file)
  set.keys.forEach((key, index) => refuseBroken(key, index, choice.file))
  return createLocalJWKSet(set)
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
  // A set may hold keys of other kinds for other uses; those are not for us to judge, but none of them verifies a token.
  const usable = keys.filter((key: unknown): key is JWK => isKey(key) && KEY_TYPES.includes(key.kty) && (key.use ?? 'sig') === 'sig')
  if (usable.length === 0)
    throw wrong(file, 'no key in it can verify a token; expected one with kty RSA, EC or OKP that is not for encryption')
  return { keys: usable }
}

function isKey(key: unknown): key is JWK {
  return typeof key === 'object' && key !== null
}

/** A key that is broken would be found out by the first token otherwise. */
function refuseBroken(key: JWK, index: number, file: string): void {
  const name = key.kid === undefined ? `key ${index + 1}` : `key ${JSON.stringify(key.kid)}`
  if (key.d !== undefined) throw wrong(file, `${name} is a private key; expected public ones`)
  try {
    createPublicKey({ key: key as JsonWebKey, format: 'jwk' })
  } catch (error) {
    throw wrong(file, `${name} cannot be used: ${(error as Error).message}`, { cause: error })
  }
}
