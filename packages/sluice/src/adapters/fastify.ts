export {
  type FastifyHook,
  type FastifyOptions,
  type FastifyReply,
  type FastifyRequest,
  type InferredHook,
  rateLimit,
} from './fastify-hook.ts'
export type { Closable } from '../http/leaving.ts'
export type { EndingResponse } from '../http/response-end.ts'
export { type FastifyPluginOptions, type FastifyRouteOptions, rateLimitPlugin } from './fastify-plugin.ts'
