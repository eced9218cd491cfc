import {
  All,
  Catch,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  HttpException,
  type INestApplication,
  Injectable,
  type ModuleMetadata,
  Post,
  UseGuards,
} from '@nestjs/common'
import { APP_FILTER, APP_GUARD } from '@nestjs/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  RateLimit,
  RateLimitDecision,
  type RateLimitException,
  RateLimitGuard,
  RateLimitModule,
  type NestRequest,
  type RateLimitModuleOptions,
  SkipRateLimit,
} from '../../src/adapters/nest.ts'
import { createLimiter, type Decision, tokenBucket } from '../../src/index.ts'
import type { DecisionEvent } from '../../src/observe/events.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { adapterSuite } from '../../src/testing.ts'
import { sendRequest } from '../../src/testing/send-http.ts'
import { controller, type Handlers, moduleClass, PLATFORMS, start } from './nest-apps.ts'
import { draws } from '../draws.ts'

const FOR_ALL = { provide: APP_GUARD, useClass: RateLimitGuard }

/** The exception that `onDenied` of the adapter suite returns. A filter sends it as a text. */
class Teapot extends HttpException {}

class TeapotFilter implements ExceptionFilter {
  catch(exception: Teapot, host: Parameters<ExceptionFilter['catch']>[1]): void {
    host.switchToHttp().getResponse<{ status(code: number): { send(text: unknown): void } }>().status(418).send(exception.getResponse())
  }
}
Catch(Teapot)(TeapotFilter)

for (const [name, platform, all] of PLATFORMS.slice(0, draws(2, 1))) {
  adapterSuite<NestRequest>(name, {
    header: ({ headers }, field) => headers[field]?.toString(),
    path: ({ originalUrl }) => originalUrl,
    serve: async (options, answer, mayAnswer) => {
      const hello = {
        run: async () => (await mayAnswer, 'hello'),
        by: [All(all), HttpCode(200), Header('Vary', 'Accept'), Header('Cache-Control', 'max-age=60')],
      }
      const onDenied = (_context: ExecutionContext, decision: Decision) => new Teapot(answer?.(decision) ?? '', 418)
      return start(platform, {
        imports: [RateLimitModule.forRoot({ ...options, ...(answer === undefined ? {} : { onDenied }) })],
        controllers: [controller({ hello })],
        providers: [FOR_ALL, { provide: APP_FILTER, useClass: TeapotFilter }],
      })
    },
  })
}

describe.each(PLATFORMS)('%s', (_name, platform) => {
  const limiter = (burst = 1) => createLimiter({ limits: { [`burst-${burst}`]: tokenBucket({ rate: '1/h', burst }) } })
  const serve = async (metadata: ModuleMetadata, prepare?: (app: INestApplication) => void): Promise<string> => {
    const served = await start(platform, metadata, prepare)
    onTestFinished(() => served.close())
    return served.url
  }
  const hello = (path: string, ...by: MethodDecorator[]): Handlers[string] => ({ run: () => 'hello', by: [Get(path), ...by] })
  const statusesOf = async (url: string, paths: readonly string[]): Promise<number[]> => {
    const seen: number[] = []
    for (const path of paths) seen.push((await sendRequest(url, { path })).status)
    return seen
  }

  it('U7: a handler sees the decision, in a parameter and on the request', async () => {
    const inject = (routes: new () => object): void => RateLimitDecision()(routes.prototype as object, 'left', 0)
    const left = { run: (decision?: Decision) => ({ left: decision?.limits[0]?.remaining ?? 'none' }), by: [Get('left')] }
    const skipped = { ...left, by: [Get('skipped'), SkipRateLimit()] }
    const routes = controller({ left, skipped })
    inject(routes)
    RateLimitDecision()(routes.prototype as object, 'skipped', 0)
    const url = await serve({ imports: [RateLimitModule.forRoot({ limiter: limiter(5) })], controllers: [routes], providers: [FOR_ALL] })
    expect((await sendRequest(url, { path: '/left' })).text).toBe('{"left":4}')
    expect((await sendRequest(url, { path: '/skipped' })).text).toBe('{"left":"none"}')
  })

  it('options of a handler override those of its controller, and these the options of the module', async () => {
    const routes = controller(
      {
        usual: hello('usual'),
        dear: hello('dear', RateLimit({ cost: 5 })),
        login: hello('login/:id', RateLimit({ limiter: 'login', key: ({ params }) => params['id'] ?? '' })),
        own: hello('own', RateLimit({ limiter: limiter(3) })),
        free: hello('free', SkipRateLimit()),
      },
      RateLimit({ cost: 2 }),
    )
    const url = await serve({
      imports: [RateLimitModule.forRoot({ limiter: limiter(5), limiters: { login: limiter(4) } })],
      controllers: [routes],
      providers: [FOR_ALL],
    })
    const fields: unknown[] = []
    for (const path of ['usual', 'dear', 'login/ada', 'login/ada', 'login/bob', 'login/ada', 'own', 'free']) {
      const { status, headers } = await sendRequest(url, { path: `/${path}` })
      fields.push([status, headers['ratelimit']?.toString().replace(/;t=.*/, '')])
    }
    expect(fields).toEqual([
      [200, '"burst-5";r=3'],
      [429, '"burst-5";r=3'],
      [200, '"burst-4";r=2'],
      [200, '"burst-4";r=0'],
      [200, '"burst-4";r=2'],
      [429, '"burst-4";r=0'],
      [200, '"burst-3";r=1'],
      [200, undefined],
    ])
  })

  it("a route's key does not need the module's options for addresses", async () => {
    const options = { limiter: limiter(1), trustedProxies: ['10.0.0.0/8'], onWarning: () => {} }
    const url = await serve({
      imports: [RateLimitModule.forRoot(options)],
      controllers: [controller({ keyed: hello('keyed', RateLimit({ key: () => 'one' })) })],
      providers: [FOR_ALL],
    })
    expect(await statusesOf(url, ['/keyed', '/keyed'])).toEqual([200, 429])
  })

  it("the module's limit by request does not apply to a route with a limiter of its own, unless the route gives one", async () => {
    const large = () => tokenBucket({ rate: '1000/s', burst: 1_000 })
    const routes = controller({
      login: hello('login', RateLimit({ limiter: 'login' })),
      limited: hello('limited', RateLimit({ limiter: 'login', key: () => 'limited', limit: large })),
      several: hello('several', RateLimit({ limiter: 'several' })),
      usual: hello('usual'),
    })
    const several = createLimiter({ limits: { one: tokenBucket({ rate: '1/h', burst: 1 }), two: tokenBucket({ rate: '1/h', burst: 2 }) } })
    const options = { limiter: limiter(1), limiters: { login: limiter(1), several }, limit: large }
    const url = await serve({ imports: [RateLimitModule.forRoot(options)], controllers: [routes], providers: [FOR_ALL] })
    expect(await statusesOf(url, ['/login', '/login', '/limited', '/limited', '/several', '/several', '/usual', '/usual'])).toEqual([
      200, 429, 200, 200, 200, 429, 200, 200,
    ])
    const onController = controller({ login: hello('login') }, RateLimit({ limiter: 'login' }))
    const fresh = { ...options, limiters: { login: limiter(1) } }
    const other = await serve({ imports: [RateLimitModule.forRoot(fresh)], controllers: [onController], providers: [FOR_ALL] })
    expect(await statusesOf(other, ['/login', '/login'])).toEqual([200, 429])
  })

  it('an exemption of a controller ends at a handler with options, or with SkipRateLimit(false)', async () => {
    const routes = controller(
      { a: hello('a'), b: hello('b', RateLimit({ cost: 2 })), c: hello('c', SkipRateLimit(false)) },
      SkipRateLimit(),
    )
    const imports = [RateLimitModule.forRoot({ limiter: limiter(1) })]
    const url = await serve({ imports, controllers: [routes], providers: [FOR_ALL] })
    expect(await statusesOf(url, ['/a', '/a', '/b', '/c', '/c'])).toEqual([200, 200, 429, 200, 429])
  })

  it('guards some controllers only, without a module, and refuses a route without a limiter', async () => {
    const limited = controller({ in: hello('in'), none: hello('none') }, UseGuards(RateLimitGuard))
    RateLimit({ limiter: limiter() })(limited.prototype, 'in', Object.getOwnPropertyDescriptor(limited.prototype, 'in') ?? {})
    const errors: Error[] = []
    class Errors implements ExceptionFilter {
      catch(error: Error, host: Parameters<ExceptionFilter['catch']>[1]): void {
        errors.push(error)
        const status = error instanceof HttpException ? error.getStatus() : 500
        host.switchToHttp().getResponse<{ status(code: number): { send(text: unknown): void } }>().status(status).send('sorry')
      }
    }
    Catch()(Errors)
    const url = await serve({
      imports: [moduleClass({ controllers: [limited] })],
      controllers: [controller({ out: hello('out') })],
      providers: [{ provide: APP_FILTER, useClass: Errors }],
    })
    expect(await statusesOf(url, ['/in', '/in', '/out', '/out', '/none'])).toEqual([200, 429, 200, 200, 500])
    expect((errors[0] as RateLimitException).decision).toMatchObject({ outcome: 'denied', limitName: 'burst-1' })
    expect(errors[1]).toMatchObject({ code: 'INVALID_OPTIONS', message: expect.stringMatching(/\.none has no limiter/) as string })
  })

  it('forRootAsync makes the options of injected providers, and refuses wrong ones at the start', async () => {
    class Settings {
      readonly burst = 2
    }
    Injectable()(Settings)
    const SettingsModule = moduleClass({ providers: [Settings], exports: [Settings] })
    const made = (useFactory: (settings: Settings) => Promise<RateLimitModuleOptions>): ModuleMetadata => ({
      imports: [RateLimitModule.forRootAsync({ imports: [SettingsModule], inject: [Settings], useFactory })],
      controllers: [controller({ a: hello('a') })],
      providers: [FOR_ALL],
    })
    const url = await serve(made(async ({ burst }) => ({ limiter: limiter(burst) })))
    expect(await statusesOf(url, ['/a', '/a', '/a'])).toEqual([200, 200, 429])
    await expect(serve(made(async () => ({ max: 5 }) as never))).rejects.toThrow('unknown option max')
  })

  it('a key may come from the body and from the user of an earlier guard', async () => {
    class Auth {
      canActivate(context: ExecutionContext): boolean {
        const request = context.switchToHttp().getRequest<{ user?: object; headers: Record<string, string> }>()
        request.user = { id: request.headers['x-user'] }
        return true
      }
    }
    const key = ({ user, body }: NestRequest): string => `${(user as { id: string }).id}:${(body as { team: string }).team}`
    const create = { run: () => 'hello', by: [Post('create')] }
    const url = await serve({
      imports: [RateLimitModule.forRoot({ limiter: limiter(), key })],
      controllers: [controller({ create })],
      providers: [{ provide: APP_GUARD, useClass: Auth }, FOR_ALL],
    })
    const post = async (user: string, team: string): Promise<number> => {
      const headers = { 'x-user': user, 'content-type': 'application/json' }
      return (await sendRequest(url, { path: '/create', method: 'POST', headers, body: JSON.stringify({ team }) })).status
    }
    expect([await post('ada', 'a'), await post('ada', 'a'), await post('ada', 'b'), await post('bob', 'a')]).toEqual([201, 429, 201, 201])
  })

  it('reports the route to an engine as a pattern', async () => {
    const events: DecisionEvent[] = []
    const policy = parsePolicy('version: 1\nrules:\n  - { name: people, match: { path: /api/people/** }, key: [], rate: 1/h, burst: 9 }\n')
    const engine = createEngine({ policy, store: memoryStore(), observers: [{ onDecision: (event) => void events.push(event) }] })
    const url = await serve(
      { imports: [RateLimitModule.forRoot({ engine })], controllers: [controller({ a: hello('people/:name') })], providers: [FOR_ALL] },
      (app) => void app.setGlobalPrefix('api'),
    )
    expect((await sendRequest(url, { path: '/api/people/ada?q=1' })).headers['ratelimit']).toBe('"people";r=8;t=3600')
    expect(events.map(({ route }) => route)).toEqual(['/api/people/:name'])
  })

  it('U8: a denial after the head was sent ends the answer', async () => {
    const begin = (_request: unknown, response: { write(text: string): void }, next: () => void): void => {
      response.write('begun')
      next()
    }
    const url = await serve(
      {
        imports: [RateLimitModule.forRoot({ limiter: limiter(), cost: 2 })],
        controllers: [controller({ a: hello('a') })],
        providers: [FOR_ALL],
      },
      (app) => void app.use(begin),
    )
    expect(await sendRequest(url, { path: '/a' })).toMatchObject({ status: 200, text: 'begun' })
  })

  it('handlers of another kind than HTTP are not limited in silence', async () => {
    const guard = new RateLimitGuard({ limiter: limiter() })
    const context = { getType: () => 'ws', getClass: () => ({ name: 'Events' }), getHandler: () => function joined() {} }
    await expect(guard.canActivate(context as never)).rejects.toThrow('Events.joined is a handler of ws, which has no HTTP request')
  })
})

describe('nest: what decorators and modules refuse when they are made', () => {
  const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }) })

  it.each([
    ['RateLimit({ max: 3 })', () => RateLimit({ max: 3 } as never), 'RateLimit: unknown option max'],
    ['RateLimit({ key: 5 })', () => RateLimit({ key: 5 } as never), 'RateLimit: key is 5, expected a function'],
    ['RateLimit({ limiter: 5 })', () => RateLimit({ limiter: 5 } as never), 'RateLimit: limiter is 5'],
    ['forRoot({ limiters: 5 })', () => RateLimitModule.forRoot({ limiters: 5 } as never), 'limiters is 5, expected an object'],
    ['forRoot({ limiters: { a: 5 } })', () => RateLimitModule.forRoot({ limiters: { a: 5 } } as never), 'limiters.a is 5'],
    ['forRootAsync({})', () => RateLimitModule.forRootAsync({} as never), 'useFactory is undefined, expected a function'],
    ['forRootAsync({ useClass })', () => RateLimitModule.forRootAsync({ useClass: 5 } as never), 'unknown option useClass'],
  ])('%s', (_what, make, message) => {
    expect(make).toThrow(expect.objectContaining({ name: 'LimiterError', message: expect.stringContaining(message) as string }))
  })

  it('a name that no limiter has is an error that lists the names', async () => {
    class Routes {
      go(): void {}
    }
    RateLimit({ limiter: 'logn' })(Routes)
    const guard = new RateLimitGuard({ limiters: { login: limiter } })
    const context = { getType: () => 'http', getClass: () => Routes, getHandler: () => Routes.prototype.go }
    await expect(guard.canActivate(context as never)).rejects.toThrow(`limiter is "logn", expected one of the module's limiters: login`)
  })
})
