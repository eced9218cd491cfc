import { findBinary, type Found } from './find.ts'

export function findChromium(): Found {
  return findBinary('chromium', ['/usr/lib/chromium'], 'chromium')
}

/** The flags with which a headless browser starts as root on a machine without a network. */
export const CHROMIUM_FLAGS: readonly string[] = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
