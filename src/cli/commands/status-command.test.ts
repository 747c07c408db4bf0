import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createOperatorScene } from '../../../test/support/servers/operator-scene.ts'
import { ADMIN_KEY, createTestApp, type TestAppOptions } from '../../../test/support/servers/test-app.ts'
import { ServiceError } from '../../core/errors.ts'

async function setUp(options: TestAppOptions = {}) {
  const { listen, post } = createTestApp(options)
  const url = `http://127.0.0.1:${await listen()}/`
  const { sluice } = createOperatorScene()
  const status = (...words: string[]) => sluice('status', '--url', url.slice(0, -1), ...words)
  return { url, post, status, asAdmin: (...words: string[]) => status('--admin-key', ADMIN_KEY, ...words) }
}

describe('sluice status', () => {
  it('shows the server, its models and what was refused', async () => {
    const { url, post, asAdmin } = await setUp()
    await post('/v1/generate', {})

    const { exitCode, printed } = await asAdmin()

    expect(exitCode).toBe(0)
    expect(printed).toMatch(new RegExp(`^server +${url}\nstate +ready\nup for +0 min 0 s\n`))
    expect(printed).toMatch(
      /^model +state +running +waiting +slots +kv cache +memory +layers on GPUs +engine deaths$/m,
    )
    expect(printed).toMatch(/^default +ready +0 +0 /m)
    expect(printed).toMatch(/^invalid_request +1$/m)
  })

  it('prints the answer of the API as JSON', async () => {
    const { asAdmin } = await setUp()

    expect(JSON.parse((await asAdmin('--json')).printed)).toMatchObject({
      why_not_ready: null,
      models: [{ id: 'default', state: 'ready' }],
    })
  })

  it('says without an admin key only whether the server is ready, and ends with 1 where it is not', async () => {
    const ready = await setUp()
    expect(await ready.status()).toMatchObject({ exitCode: 0, printed: `${ready.url} is ready.` })

    const busy = await setUp({ whyNotReady: () => new ServiceError('no_model') })
    expect(await busy.status()).toMatchObject({
      exitCode: 1,
      printed: expect.stringMatching(/ is not ready: .+\.$/),
    })
    expect((await busy.asAdmin()).exitCode).toBe(1)
  })

  it('says in one sentence that the key is wrong, or that nothing answers', async () => {
    const { url, status } = await setUp()
    const wrong = await status('--admin-key', 'no-such-admin-key-0123456789')
    expect([wrong.exitCode, wrong.complaints]).toEqual([
      1,
      [expect.stringMatching(new RegExp(`^sluice: ${url} answered 401: .+\\.$`))],
    ])
    expect(await createOperatorScene().sluice('status', '--url', 'http://127.0.0.1:1')).toMatchObject({
      exitCode: 1,
      complaints: [
        expect.stringMatching(
          /^sluice: No server of Sluice answers at http:\/\/127\.0\.0\.1:1\/ \(--url\): .+\.$/,
        ),
      ],
    })
  })

  it('says in its own words that nobody speaks TLS there', async () => {
    const { url, status } = await setUp()
    const asked = url.replace('http:', 'https:')
    expect(await status('--url', asked)).toMatchObject({
      exitCode: 1,
      complaints: [
        `sluice: No server of Sluice answers at ${asked} (--url): it does not speak TLS there; try http in place of https.`,
      ],
    })
  })
})

it('asks below the path that a proxy gives the server', async () => {
  const asked: (string | undefined)[] = []
  const proxy = createServer((request, response) => {
    asked.push(request.url)
    response.end('{"status":"ready"}')
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  const { port } = proxy.address() as AddressInfo

  const { exitCode } = await createOperatorScene().sluice('status', '--url', `http://127.0.0.1:${port}/llm`)

  expect([exitCode, asked]).toEqual([0, ['/llm/v1/ready']])
})
