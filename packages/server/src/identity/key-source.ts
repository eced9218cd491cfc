import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { createLocalJWKSet, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose'
import { LimiterError } from 'sluice'
import type { JwtChoice } from 'sluice/policy'
import { invalidPolicy, readNamed, readRegular, readSecret } from '../files/regular-file.ts'
import { watchFile } from '../files/watch-file.ts'
import { mapInSlices } from '../policy/in-slices.ts'
import { type KeySource, remoteKeys } from './remote-keys.ts'

const KEY_TYPES: readonly unknown[] = ['RSA', 'EC', 'OKP']

/**
 * Rejects with LimiterError INVALID_POLICY for a file that cannot be read or has no usable key.
 * @param policyFile a file of keys is relative to its folder
 * @param before reused for the same URL, because the URL may be unreachable now
 */
export async function keySource(policyFile: string, choice: JwtChoice, before?: KeySource): Promise<KeySource> {
  if (choice.by === 'upstream') return { keys: undefined, follow: () => () => {} }
  if (choice.by === 'secret') return { keys: readSecret(policyFile, choice.file, 'jwt.secretFile'), follow: () => () => {} }
  if (choice.by === 'url') return before?.url === choice.url ? before : remoteKeys(choice.url)
  const text = readNamed(policyFile, choice.file, 'jwt.jwksFile').toString('utf8')
  return fileKeys(policyFile, choice.file, text, await keysInSlices(text, choice.file))
}

function fileKeys(policyFile: string, name: string, first: string, keys: JWTVerifyGetKey): KeySource {
  let current = keys
  return {
    keys: (header, token) => current(header, token),
    follow({ changed, says }) {
      const kept = (error: Error): void => says('warn', `the keys of jwt.jwksFile ${name} stay as they are: ${error.message}`)
      const watched = watchFile<string>(resolve(dirname(policyFile), name), first, {
        read: (file) => readRegular(file).toString('utf8'),
        async changed(text) {
          try {
            current = await keysInSlices(text, name)
            changed()
            says('info', `jwt.jwksFile ${name} was read again: its keys verify tokens from now on`)
          } catch (error) {
            if (!(error instanceof LimiterError)) throw error
            kept(error)
          }
        },
        unreadable: (error) => kept(new Error(`it cannot be read: ${error.message}`)),
      })
      return watched.close
    },
  }
}

async function keysInSlices(text: string, file: string): Promise<JWTVerifyGetKey> {
  const set = parseSet(text, file)
  await mapInSlices([...set.keys.entries()], (entry) => refuseBroken(entry, file))
  return createLocalJWKSet(set)
}

function wrong(file: string, why: string, options?: ErrorOptions): LimiterError {
  return invalidPolicy(`jwt.jwksFile ${file}: ${why}`, options)
}

function parseSet(text: string, file: string): JSONWebKeySet {
  let set: { keys?: unknown } | null
  try {
    set = JSON.parse(text) as typeof set
  } catch (error) {
    throw wrong(file, 'no JSON; expected a set of keys as an issuer publishes it: {"keys": [...]}', { cause: error })
  }
  const keys: unknown = set?.keys
  if (!Array.isArray(keys)) throw wrong(file, 'no set of keys; expected {"keys": [...]}')
  // Keys of other types or uses are ignored: none of them verifies a token.
  const isUsable = (key: JWK | null): key is JWK => KEY_TYPES.includes(key?.kty) && (key?.use ?? 'sig') === 'sig'
  const usable = (keys as (JWK | null)[]).filter(isUsable)
  if (usable.length > 0) return { keys: usable }
  throw wrong(file, 'no key in it can verify a token; expected one with kty RSA, EC or OKP that is not for encryption')
}

function refuseBroken([index, key]: readonly [number, JWK], file: string): void {
  const name = key.kid === undefined ? `key ${index + 1}` : `key ${JSON.stringify(key.kid)}`
  if (key.d !== undefined) throw wrong(file, `${name} is a private key; expected public ones`)
  try {
    createPublicKey({ key: key as JsonWebKey, format: 'jwk' })
  } catch (error) {
    throw wrong(file, `${name} cannot be used: ${(error as Error).message}`, { cause: error })
  }
}
