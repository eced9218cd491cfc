import type { JWTVerifyGetKey } from 'jose'
import { dirname, resolve } from 'node:path'
import { LimiterError } from 'sluice'
import type { JwtChoice } from 'sluice/policy'
import { readRegular } from '../files/regular-file.ts'
import { readSecret } from '../files/secret-file.ts'
import { watchFile } from '../files/watch-file.ts'
import type { KeySource } from './followed-keys.ts'
import { keySetOf, type KeySet, readKeySet, readKeySetInSlices } from './keys.ts'
import { remoteKeys } from './remote-keys.ts'

/**
 * The key source that a policy chooses.
 * @param policyFile a file of keys is found relative to its folder
 * @throws LimiterError INVALID_POLICY for a file that cannot be read or holds no key that could verify a token
 */
export function keySource(policyFile: string, choice: JwtChoice): KeySource {
  if (choice.by === 'upstream') return { keys: undefined, follow: () => () => {} }
  if (choice.by === 'secret') return { keys: readSecret(policyFile, choice.file, 'jwt.secretFile'), follow: () => () => {} }
  if (choice.by === 'url') return remoteKeys(choice.url)
  return fileKeys(policyFile, choice.file, readKeySet(policyFile, choice.file))
}

/** The way to verify tokens, and the source of the keys. */
export interface ChosenKeys {
  readonly choice: JwtChoice
  readonly source: KeySource
}

/**
 * As `keySource`, for a policy that replaces another: it reads in slices. It reuses keys already fetched from the same URL, which may be
 * unreachable now. Rejects if `keySource` throws.
 */
export async function nextKeySource(policyFile: string, choice: JwtChoice, before: ChosenKeys | undefined): Promise<KeySource> {
  if (choice.by === 'url' && before?.choice.by === 'url' && before.choice.url === choice.url) return before.source
  if (choice.by === 'jwks') return fileKeys(policyFile, choice.file, await readKeySetInSlices(policyFile, choice.file))
  return keySource(policyFile, choice)
}

function fileKeys(policyFile: string, name: string, first: KeySet): KeySource {
  let current: JWTVerifyGetKey = first.keys
  return {
    keys: (header, token) => current(header, token),
    follow({ changed, says }) {
      const kept = (error: Error): void => says(`the keys of jwt.jwksFile ${name} stay as they are: ${error.message}`)
      const watched = watchFile<string>(resolve(dirname(policyFile), name), first.text, {
        read: (file) => readRegular(file).toString('utf8'),
        async changed(text) {
          try {
            current = await keySetOf(text, name)
            changed()
            says(`jwt.jwksFile ${name} was read again: its keys verify tokens from now on`)
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
