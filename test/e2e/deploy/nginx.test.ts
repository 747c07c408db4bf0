/** deploy/nginx.conf as it is, but for its ports and files, in front of the built program. */
import { describe, expect, it } from 'vitest'
import { NGINX } from '../../../tools/optional-programs.mjs'
import { secureFetch } from '../../support/net/tls-client.ts'
import { startNginx } from '../../support/servers/balancers.ts'
import { shared } from '../../support/shared.ts'
import { enginePids, KEY, startDemoServer } from '../../support/servers/server-process.ts'

const ADMIN_KEY = 'an-admin-key-of-the-test'

const admin = { secret: ADMIN_KEY }
const STORY = { prompt: 'Once upon a time', max_new_tokens: 1500, temperature: 0.01 }

describe.skipIf(NGINX === null)('behind deploy/nginx.conf', () => {
  const behindNginx = shared(async () => {
    const server = await startDemoServer(['--admin-key', ADMIN_KEY, '--trusted-proxies', '127.0.0.1'])
    return { server, ...(await startNginx([server.address])) }
  })

  it('streams each token as it comes', async () => {
    const { server, port } = behindNginx()
    const [engine = 0] = enginePids(server)
    let first: string | null = null
    const { status, text } = await secureFetch(
      { port, path: '/v1/generate/stream', secret: KEY, body: STORY },
      (arrived) => {
        if (first !== null) return
        first = arrived
        process.kill(engine, 'SIGSTOP')
        setTimeout(() => process.kill(engine, 'SIGCONT'), 100)
      },
    )
    expect(status).toBe(200)
    // A proxy that buffers hands over several kilobytes at once.
    expect(String(first).length).toBeLessThan(2048)
    expect(text.length).toBeGreaterThan(4096)
    expect(text).toMatch(/"finish_reason":"(?:stop|length)"[^]*data: \[DONE\]\n\n$/)
  })

  it('closes the admin API and the metrics to other addresses, however the path is written', async () => {
    const { port } = behindNginx()
    const get = async (url: string, localAddress: string) =>
      (await secureFetch({ port, path: url, localAddress, ...admin })).status

    for (const url of ['/metrics', '/v1/admin/keys']) {
      expect([url, await get(url, '127.0.0.1')]).toEqual([url, 200])
    }
    for (const url of [
      '/metrics',
      '/v1/admin/keys',
      '//v1/admin/keys',
      '/v1/%61dmin/keys',
      '/v1/x/../admin/keys',
    ]) {
      expect([url, await get(url, '127.0.0.2')]).toEqual([url, 403])
    }
    expect(await get('/v1/health', '127.0.0.2')).toBe(200)
  })

  it('lets a body of 8 MiB through to the answer that names the field, and none above 9 MB', async () => {
    const { port } = behindNginx()
    const post = async (characters: number) =>
      await secureFetch({ port, path: '/v1/generate', secret: KEY, body: { prompt: 'a'.repeat(characters) } })

    const within = await post(8 * 1024 * 1024 - 1000)
    expect([within.status, JSON.parse(within.text)]).toEqual([
      400,
      { detail: expect.stringContaining('prompt') },
    ])
    const large = await post(8 * 1024 * 1024 + 1000)
    expect(large.text).toContain('must be at most 8388608 bytes')
    const above = await post(9 * 1024 * 1024 + 1000).catch(() => ({ status: 413 }))
    expect(above.status).toBe(413)
  })

  it('gives a browser a cookie that leaves over TLS alone', async () => {
    const { port } = behindNginx()
    const account = { email: 'ann@example.org', password: 'a-password-of-the-test' }
    const made = await secureFetch({ port, path: '/v1/admin/users', ...admin, body: account })
    expect([made.status, made.text]).toEqual([200, expect.any(String)])
    const body = { ...account, cookie: true }
    const { cookies } = await secureFetch({ port, path: '/v1/auth/login', body })
    expect(cookies).toEqual([expect.stringMatching(/^__Host-sluice_session=.*; Secure/)])
  })

  it('refuses plain HTTP', async () => {
    const { plainPort } = behindNginx()
    const answer = await fetch(`http://127.0.0.1:${plainPort}/v1/health`)
    expect([answer.status, await answer.text()]).toEqual([403, 'Use https.\n'])
  })
})
