import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findBinary, type Found } from '@sluice/scripts/engines'

export const openssl: Found = findBinary('openssl', [], 'openssl')

/**
 * Makes NAME.pem and NAME.key in a folder. If `name` and `issuer` are the same, it makes a certificate authority. Otherwise it makes a
 * certificate for 127.0.0.1, signed by that issuer, which was made before.
 */
export function certify(folder: string, name: string, issuer: string): void {
  const at = (file: string): string => join(folder, file)
  const make = (...args: string[]): void => void execFileSync('path' in openssl ? openssl.path : '', args, { stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', at(`${name}.key`)]
  if (name === issuer) return make('req', '-x509', ...key, '-subj', `/CN=${name}`, '-days', '2', '-out', at(`${name}.pem`))
  make('req', ...key, '-subj', `/CN=${name}`, '-out', at(`${name}.csr`))
  writeFileSync(at('names'), 'subjectAltName=IP:127.0.0.1')
  const signed = ['-CA', at(`${issuer}.pem`), '-CAkey', at(`${issuer}.key`), '-CAcreateserial', '-days', '2', '-extfile', at('names')]
  make('x509', '-req', '-in', at(`${name}.csr`), ...signed, '-out', at(`${name}.pem`))
}
