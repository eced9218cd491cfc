import { Controller, type INestApplication, Module, type ModuleMetadata } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { Served } from '../../src/testing/adapter-bench.ts'

/** Name, adapter, and the pattern of all paths. */
export const PLATFORMS: readonly (readonly [string, () => ExpressAdapter | FastifyAdapter, string])[] = [
  ['nest on express', () => new ExpressAdapter(), '{*path}'],
  ['nest on fastify', fastifyAdapter, '*'],
]

function fastifyAdapter(): FastifyAdapter {
  const adapter = new FastifyAdapter({ forceCloseConnections: true })
  adapter.getInstance().addContentTypeParser('*', (_request: unknown, _payload: unknown, done: (error: null) => void) => done(null))
  return adapter
}

/** A new class, which decorators fill. */
function newClass(): new () => object {
  return class {
    readonly made = true
  }
}

/** A module with this metadata. */
export function moduleClass(metadata: ModuleMetadata): new () => object {
  const made = newClass()
  Module(metadata)(made)
  return made
}

/** What handlers do, and their decorators, by name. */
export type Handlers = Readonly<Record<string, { readonly run: (...values: never[]) => unknown; readonly by: readonly MethodDecorator[] }>>

/**
 * Makes a controller class with decorated methods. It calls the decorators as functions, because this repository compiles without decorator
 * syntax.
 */
export function controller(handlers: Handlers, ...decorators: readonly ClassDecorator[]): new () => object {
  const Routes = newClass()
  for (const [name, { run, by }] of Object.entries(handlers)) {
    // Nest keeps a handler's metadata on its function. So every handler gets a function of its own, even if two run the same code.
    const own = Object.defineProperty((...values: never[]): unknown => run(...values), 'name', { value: name })
    const descriptor = { value: own, configurable: true, writable: true }
    Object.defineProperty(Routes.prototype, name, descriptor)
    for (const decorator of by.toReversed()) decorator(Routes.prototype, name, descriptor)
  }
  for (const decorator of [Controller(), ...decorators]) decorator(Routes)
  return Routes
}

/** An application on a free port of the loopback address. */
export async function start(
  platform: () => ExpressAdapter | FastifyAdapter,
  metadata: ModuleMetadata,
  prepare?: (app: INestApplication) => void,
): Promise<Served> {
  const app = await NestFactory.create(moduleClass(metadata), platform(), {
    logger: false,
    abortOnError: false,
    forceCloseConnections: true,
  })
  prepare?.(app)
  await app.listen(0, '127.0.0.1')
  return { url: await app.getUrl(), close: () => app.close() }
}
