import type Koa from 'koa'
import type { Served } from '../../src/testing/adapter-bench.ts'
import { listen } from './listen.ts'

/** A Koa app on a free port of the loopback address. */
export function listenKoa(app: Koa): Promise<Served> {
  const handle = app.callback()
  return listen((request, response) => void handle(request, response))
}
