import { createLimiter, tokenBucket } from 'sluice'

// A budget of tokens that several answers of a language model share. What an answer takes is known only at its end.
const budget = createLimiter({ name: 'budget', limit: tokenBucket({ rate: '1000/day', burst: 1_000 }) })

/** A streamed answer: chunks of text, then the usage. As with real providers, an answer that is broken off reports no usage. */
async function* model(prompt: string, words: number): AsyncGenerator<{ text?: string; usage?: number }> {
  for (let index = 0; index < words; index += 1) yield { text: `word ${index} ` }
  yield { usage: Math.ceil(prompt.length / 4) + words }
}

/** An estimate from above: the prompt, and the longest answer that is allowed. */
const estimate = (prompt: string, maxTokens: number): number => Math.ceil(prompt.length / 3) + maxTokens

/** @param leaveAfter the client leaves after so many words */
async function answer(
  name: string,
  prompt: string,
  words: number,
  maxTokens: number,
  leaveAfter = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { decision, settle } = await budget.reserve('team', { cost: estimate(prompt, maxTokens), holdMs: 120_000 })
  if (!decision.allowed) return console.log(`${name}: refused, ${decision.limits[0]?.remaining} left`)
  let used: number | undefined
  let sent = 0
  try {
    for await (const { usage, text } of model(prompt, words)) {
      used = usage ?? used
      if (text !== undefined) sent += 1
      if (sent >= leaveAfter) return
    }
  } finally {
    // Also if the client has left: then what was sent is counted. The settlement has a deadline of its own, not the request's signal.
    const { limits } = await settle(used ?? estimate(prompt, sent))
    console.log(`${name}: held ${limits[0]?.held}, used ${limits[0]?.charged}`)
  }
}

// Together they hold 900 of 1,000: a fourth one must wait, although little is used in the end.
const prompt = 'What is a token bucket, and who needs it?'
await Promise.all([
  answer('a', prompt, 40, 286),
  answer('b', prompt, 120, 286),
  answer('c', prompt, 200, 286, 30),
  answer('d', prompt, 40, 286),
])
await answer('d again', prompt, 40, 286)
const { limits } = await budget.peek('team')
console.log(`${limits[0]?.remaining} left`)
await budget.close()
