/** Rejects after `ms`: a suspended server may accept connections and never answer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1_000} s`)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
