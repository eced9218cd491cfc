import { createLimiter, tokenBucket } from 'sluice'

// A budget of tokens that several answers of a language model share. How many tokens an answer takes is known only at its end.
const budget = createLimiter({ name: 'budget', limit: tokenBucket({ rate: '1000/day', burst: 1_000 }) })

/** A streamed answer: chunks of text, then the tokens used. As with real providers, an answer that ends early does not report its usage. */
async function* model(prompt: string, words: number): AsyncGenerator<{ text?: string; usage?: number }> {
  for (let index = 0; index < words; index += 1) yield { text: `word ${index} ` }
  yield { usage: Math.ceil(prompt.length / 4) + words }
}

/** The most tokens that an answer may take: those of the prompt, and of the longest answer that is allowed. */
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
    // Runs also if the client has left: then the words that were sent are counted. The settlement does not use the request's signal.
    const { limits } = await settle(used ?? estimate(prompt, sent))
    console.log(`${name}: held ${limits[0]?.held}, used ${limits[0]?.charged}`)
  }
}

// The first three answers hold 900 of 1,000 tokens together. So the fourth is refused, although few tokens are used in the end.
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
