/** Every misuse Sluice can name, with the anchor of its paragraph in docs/errors.md. */
export const codes = {
  INVALID_RATE: 'INVALID_RATE',
  INVALID_BURST: 'INVALID_BURST',
  INVALID_DURATION: 'INVALID_DURATION',
  INVALID_COST: 'INVALID_COST',
  INVALID_KEY: 'INVALID_KEY',
  INVALID_OPTIONS: 'INVALID_OPTIONS',
  INVALID_POLICY: 'INVALID_POLICY',
  INVALID_ADDRESS: 'INVALID_ADDRESS',
  LIMIT_NOT_EXACT: 'LIMIT_NOT_EXACT',
  NOT_SYNCHRONOUS: 'NOT_SYNCHRONOUS',
  CLOSED: 'CLOSED',
} as const

export type ErrorCode = keyof typeof codes
