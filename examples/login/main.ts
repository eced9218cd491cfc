import { scrypt as scryptWithCallback } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import express from 'express'
import { createLimiter, fixedWindow } from 'sluice'
import { rateLimit } from 'sluice/express'

const scrypt = promisify<string, string, number, Buffer>(scryptWithCallback)
const hashed = async (password: string): Promise<string> => (await scrypt(password, 'salt', 32)).toString('hex')
const passwords = new Map([['ada', await hashed('enchantress')]])

// Three failed logins an hour for each name. An attempt is charged before its password is checked. A success gives the charge back.
const failures = createLimiter({ name: 'login', limit: fixedWindow({ limit: 3, window: '1h', align: 'first' }) })
const limit = rateLimit({ limiter: failures, key: (request) => `name:${request.body.name}`, countWhen: 'failure' })

const app = express()
app.post('/login', express.json(), limit, (request, response, next) => {
  const { name, password } = request.body
  hashed(password).then((hash) => {
    if (hash === passwords.get(name)) response.send(`welcome, ${name}`)
    else response.status(401).send('wrong name or password')
  }, next)
})
const server = app.listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/login`

const left = async (): Promise<number | undefined> => (await failures.peek('name:ada')).limits[0]?.remaining

/** Tries to log in; resolves with the status. */
async function login(password: string, signal: AbortSignal | null = null): Promise<number | string> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'ada', password })
  const sent = fetch(url, { method: 'POST', headers, body, signal })
  return sent.then(
    ({ status }) => status,
    () => 'left',
  )
}

console.log(`the right password: ${await login('enchantress')}, ${await left()} failures left`)
console.log(`a wrong one: ${await login('engine')}, ${await left()} failures left`)
console.log(`the right password: ${await login('enchantress')}, ${await left()} failures left`)

// A client closes its connection while its password is checked. Its failed login counts all the same.
const client = new AbortController()
const leaving = login('analytical', client.signal)
while ((await left()) === 2) await new Promise((resolve) => setTimeout(resolve, 1))
client.abort()
console.log(`a wrong one: ${await leaving}, ${await left()} failures left`)

// Guesses at once: each is charged before it is checked.
const guesses = (await Promise.all(['babbage', 'byron', 'bernoulli'].map((password) => login(password)))).map(String).toSorted()
console.log(`wrong ones at once: ${guesses.join(', ')}, ${await left()} failures left`)
console.log(`the right password: ${await login('enchantress')}`)

server.close()
await failures.close()
