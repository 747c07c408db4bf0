/** A port that another program has, whatever that answers. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { checkPort } from './machine-checks.ts'

const ANSWERS: readonly [string, RequestListener][] = [
  [
    'an error with a status',
    (_, response) => response.writeHead(404).end('{"status":404,"error":"Not Found"}'),
  ],
  ['its own health', (_, response) => response.end('{"status":"UP"}')],
  [
    'without end',
    (_, response) => void setInterval(() => response.write(Buffer.alloc(50_000, ' ')), 5).unref(),
  ],
]

it.each(ANSWERS)('is in use by a program that answers with %s', async (_, listener) => {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const start = performance.now()
  expect(await checkPort({ host: '127.0.0.1', port, tlsCertfile: null })).toMatchObject({
    state: 'fault',
    text: `127.0.0.1:${port} is in use by another program; choose another with --port.`,
  })
  // It is not read until time is up.
  expect(performance.now() - start).toBeLessThan(2500)
})
