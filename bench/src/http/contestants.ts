import type { Framework, Guard } from './order.ts'

/** A limiter before the handler of a framework. */
export interface WebContestant {
  readonly guard: Guard
  readonly name: string
  readonly kind: 'ours' | 'peer'
  /** What it promises: a token bucket, or windows that begin with a client's first request. */
  readonly promise: 'bucket' | 'window'
}

/** The limiters of a framework that are measured in the same rounds. */
export interface WebScenario {
  readonly framework: Framework
  /** The framework in words. */
  readonly title: string
  readonly contestants: readonly WebContestant[]
}

const peer = (guard: Guard): WebContestant => ({ guard, name: guard, kind: 'peer', promise: 'window' })

function ours(adapter: string): WebContestant[] {
  return [
    { guard: 'sluice', name: `${adapter}, fields of draft 6`, kind: 'ours', promise: 'bucket' },
    { guard: 'sluice-default', name: `${adapter}, default fields`, kind: 'ours', promise: 'bucket' },
  ]
}

export const NODE: WebScenario = { framework: 'node', title: 'node:http', contestants: ours('sluice/node') }

export const EXPRESS: WebScenario = {
  framework: 'express',
  title: 'Express 5',
  contestants: [...ours('sluice/express'), peer('express-rate-limit'), peer('rate-limiter-flexible')],
}

export const EXPRESS_REDIS: WebScenario = {
  framework: 'express',
  title: 'Express 5 and Redis',
  contestants: [
    { guard: 'sluice', name: 'sluice/express, redisStore', kind: 'ours', promise: 'bucket' },
    { ...peer('express-rate-limit'), name: 'express-rate-limit, rate-limit-redis' },
    { ...peer('rate-limiter-flexible'), name: 'rate-limiter-flexible, RateLimiterRedis' },
  ],
}

export const FASTIFY_REDIS: WebScenario = {
  framework: 'fastify',
  title: 'Fastify 5 and Redis',
  contestants: [
    { guard: 'sluice', name: 'sluice/fastify, redisStore', kind: 'ours', promise: 'bucket' },
    { ...peer('@fastify/rate-limit'), name: '@fastify/rate-limit, ioredis' },
  ],
}

export const FASTIFY: WebScenario = {
  framework: 'fastify',
  title: 'Fastify 5',
  contestants: [...ours('sluice/fastify'), peer('@fastify/rate-limit')],
}

export const HONO: WebScenario = {
  framework: 'hono',
  title: 'Hono on node:http',
  contestants: [...ours('sluice/hono'), peer('hono-rate-limiter')],
}
