import { Controller, Get, Module, Param } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { createLimiter, type Decision, tokenBucket } from 'sluice'
import { RateLimit, RateLimitDecision, RateLimitGuard, RateLimitModule, SkipRateLimit } from 'sluice/nest'

// Without the option `store`, the buckets are in the memory of this process, and are lost when it ends.
const limiter = createLimiter({ name: 'api', limit: tokenBucket({ rate: '5/s', burst: 20 }) })
const reports = createLimiter({ name: 'reports', limit: tokenBucket({ rate: '1/min', burst: 3 }) })

@Controller()
class HelloController {
  @Get()
  hello() {
    return { hello: 'world' }
  }

  @Get('reports/:team')
  @RateLimit({ limiter: 'reports', key: (request) => `team:${request.params['team']}` })
  report(@Param('team') team: string, @RateLimitDecision() decision?: Decision) {
    return { team, left: decision?.limits[0]?.remaining }
  }

  @Get('health')
  @SkipRateLimit()
  health() {
    return { ok: true }
  }
}

@Module({
  imports: [RateLimitModule.forRoot({ limiter, limiters: { reports } })],
  controllers: [HelloController],
  providers: [{ provide: APP_GUARD, useClass: RateLimitGuard }],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] })
await app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1')
console.log(`nest-adapter listens on ${await app.getUrl()}`)
