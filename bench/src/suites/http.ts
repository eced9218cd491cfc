import { express, fastify, hono } from '../http/framework-part.ts'
import { redis } from '../http/redis-part.ts'
import { node } from '../http/node-part.ts'
import type { Suite } from './suite.ts'

/** Measures what a limiter adds to a request. */
export const http: Suite = {
  name: 'http',
  title: 'what a limiter adds to a request of a web server',
  summary: 'processor time that limiters add to a request of node:http, Express, Fastify and Hono, also with Redis',
  parts: [node, express, fastify, hono, redis],
  seconds: { quick: 0.3, full: 2.5 },
}
