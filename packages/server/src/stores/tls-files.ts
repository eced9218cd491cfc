import { createPrivateKey, X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { usage } from '../cli/failure.ts'
import { readAs } from '../files/regular-file.ts'

const PARTS = ['ca', 'cert', 'key'] as const
type Part = (typeof PARTS)[number]
/** In the form of `tls.connect`; absent: the system's default. */
export type TlsFiles = Readonly<Partial<Record<Part, Buffer>>>
type TlsNames = Readonly<Record<Part, string>>

const FORMS: Readonly<Record<Part, { readonly expected: string; check(contents: Buffer): unknown }>> = {
  // `createSecureContext` accepts any bytes as `ca`, and with wrong ones trusts no certificate.
  ca: { expected: 'certificates in PEM', check: (ca) => certificatesIn(ca).map((text) => new X509Certificate(text)) },
  cert: { expected: 'a certificate in PEM', check: (cert) => createSecureContext({ cert }) },
  key: { expected: 'a private key in PEM, without a passphrase', check: (key) => createPrivateKey(key) },
}

/**
 * Relative paths start at `folder`.
 * @throws CommandFailure exit 3 for a file that cannot be read or is not PEM, and for a key that does not fit the certificate
 */
export function readTlsFiles(parameters: ReadonlyMap<string, string>, names: TlsNames, folder: string): TlsFiles {
  const files: Partial<Record<Part, Buffer>> = {}
  for (const part of PARTS) {
    const file = parameters.get(names[part])
    if (file !== undefined) files[part] = readPem(part, `store: ${names[part]} ${file}`, resolve(folder, file))
  }
  const { cert, key } = files
  if (cert !== undefined && key !== undefined) {
    const pair = `${names.cert} ${parameters.get(names.cert)} and ${names.key} ${parameters.get(names.key)}`
    const mistake = `store: ${pair} are not a pair: expected a certificate and its private key`
    refuseIf(() => createSecureContext({ cert, key }), mistake)
  }
  return files
}

/** @throws CommandFailure exit 3 for a file that cannot be read or is not PEM */
export function readCertificates(what: string, file: string): Buffer {
  return readPem('ca', what, file)
}

function readPem(part: Part, what: string, file: string): Buffer {
  const contents = readAs(what, file, usage)
  const { expected, check } = FORMS[part]
  refuseIf(() => check(contents), `${what} is not PEM that can be used: expected ${expected}`)
  return contents
}

/** OpenSSL's message names neither the parameter nor the file. */
function refuseIf(check: () => unknown, message: string): void {
  try {
    check()
  } catch (error) {
    throw usage(message, { cause: error })
  }
}

/** @throws Error for a bundle without certificates */
function certificatesIn(contents: Buffer): string[] {
  const parts = contents.toString('latin1').split(/(?=-----BEGIN )/)
  const found = parts.filter((part) => /^-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(part))
  if (found.length === 0) throw new Error('no certificate')
  return found
}
