import type { JWTVerifyGetKey } from 'jose'
import { dirname, resolve } from 'node:path'
import { LimiterError } from 'sluice'
import type { JwtChoice } from 'sluice/policy'
import { readRegular } from '../regular-file.ts'
import { readSecret } from '../secret-file.ts'
import { watchFile } from '../watch-file.ts'
import type { KeySource } from './followed-keys.ts'
import { keySetOf, readKeySet } from './keys.ts'
import { remoteKeys } from './remote-keys.ts'

/**
 * @param policyFile from whose folder a file of keys is found
 * @throws LimiterError INVALID_POLICY for a file that cannot be read or holds no key that could verify a token
 */
export function keySource(policyFile: string, choice: JwtChoice): KeySource {
  if (choice.by === 'upstream') return { keys: undefined, follow: () => () => {} }
  if (choice.by === 'secret') return { keys: readSecret(policyFile, choice.file, 'jwt.secretFile'), follow: () => () => {} }
  if (choice.by === 'url') return remoteKeys(choice.url)
  return fileKeys(policyFile, choice.file)
}

function fileKeys(policyFile: string, name: string): KeySource {
  const first = readKeySet(policyFile, name)
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
