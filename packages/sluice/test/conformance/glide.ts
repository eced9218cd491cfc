import type * as Glide from '@valkey/valkey-glide'

/**
 * The client library valkey-glide has a native part for each platform. Where that part is not installed, its suites are skipped by name.
 */
export const glide: typeof Glide | undefined = await import('@valkey/valkey-glide').catch((error: unknown) => {
  console.log(`valkey-glide is skipped: ${String(error)}`)
  return undefined
})

/** Its messages would be lines of the test's output. */
glide?.Logger.init('off')
