import { StoreFailure } from 'sluice'

/** First words of replies to a login or to SELECT that waiting does not fix. */
const REPLIES =
  /^(?:WRONGPASS|NOAUTH|NOPERM|DENIED|ERR (?:AUTH|Client sent AUTH|invalid password|invalid DB index|DB index|SELECT is not allowed))/
/** SQLSTATE: login, database, schema, permissions, missing or changed tables. */
const STATES = /^(?:28\w{3}|3D000|3F000|42\w{3}|SL001)$/
/** Untrusted certificates, and servers without TLS. */
const TLS = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|ERR_TLS_|ERR_SSL_|ERR_OSSL_)/

/** Whether a store answers but refuses this service: a configuration error, which waiting does not fix. */
export function isSetupError(error: unknown): boolean {
  if (error instanceof StoreFailure) return error.kind === 'setup'
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return REPLIES.test(error.message) || STATES.test(code) || TLS.test(code) || /does not support SSL/.test(error.message)
}
