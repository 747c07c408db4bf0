import { describe, expect, it } from 'vitest'
import { FaultyUpstream, sayPieces } from '../../../test/support/upstream/faulty-upstream.ts'
import { VirtualClock } from '../../core/clock.ts'
import { EndpointSet } from './endpoint-set.ts'
import { sendRequest } from './send-request.ts'

const MINUTE_MS = 60_000
const REQUEST = { path: '/v1/chat/completions', body: {}, key: null } as const

async function setUp(endpoints: readonly string[], firstByteMs = MINUTE_MS) {
  const clock = new VirtualClock()
  const timeouts = { connectMs: MINUTE_MS, firstByteMs, betweenMs: MINUTE_MS }
  const set = new EndpointSet({ endpoints, apiKey: null, timeouts, clock })
  await set.open()
  const ask = () => sendRequest(set, REQUEST, new AbortController().signal)
  const probeAll = () => Promise.all(set.all.map((endpoint) => endpoint.probe()))
  return { clock, set, ask, probeAll }
}

describe('an endpoint that hangs while its health probe answers', () => {
  it('is left alone after three requests, and tried by one when its pause is over', async () => {
    await using upstream = await FaultyUpstream.start(() => {})
    const { clock, set, ask, probeAll } = await setUp([upstream.url], 20)
    for (let count = 0; count < 3; count++) {
      await expect(ask()).rejects.toThrow('its endpoints do not answer')
      await probeAll()
    }

    await expect(ask()).rejects.toThrow('none of its endpoints is up')
    expect(upstream.calls).toHaveLength(3)

    clock.advance(1000)
    await probeAll()
    await Promise.allSettled([ask(), ask()])
    expect(upstream.calls).toHaveLength(4)
    await set.close()
  })

  it('is tried again although another endpoint answers, and takes work when it does', async () => {
    let isHanging = true
    await using upstream = await FaultyUpstream.start((response, call) =>
      isHanging ? undefined : sayPieces('a')(response, call),
    )
    await using other = await FaultyUpstream.start(sayPieces('b'))
    // So long the other one may take.
    const { clock, set, ask, probeAll } = await setUp([upstream.url, other.url], 500)
    for (let count = 0; count < 4; count++) expect((await ask()).kind).toBe('answered')
    await probeAll()
    expect(set.all.map(({ takesWork }) => takesWork)).toEqual([false, true])

    isHanging = false
    clock.advance(1000)
    await ask()

    expect(upstream.calls).toHaveLength(4)
    expect(set.all.map(({ takesWork }) => takesWork)).toEqual([true, true])
    await set.close()
  })
})

describe('an outage', () => {
  it('is over with the first probe that succeeds where nothing but probes had failed', async () => {
    await using upstream = await FaultyUpstream.start(sayPieces('a'))
    const { set, ask, probeAll } = await setUp([upstream.url])
    upstream.health = 503
    for (let count = 0; count < 3; count++) await probeAll()
    await expect(ask()).rejects.toThrow('none of its endpoints is up')

    upstream.health = 200
    await probeAll()

    expect((await ask()).kind).toBe('answered')
    await set.close()
  })

  it.each([
    ['were answered with 503', 503],
    ['lost their connections', 0],
  ])('in which requests %s is over for one that tries, as soon as a probe succeeds', async (_, status) => {
    let isBack = false
    await using upstream = await FaultyUpstream.start((response, call) => {
      if (isBack) return sayPieces('a')(response, call)
      if (status === 0) response.destroy()
      else response.writeHead(status).end('{}')
    })
    const { set, ask, probeAll } = await setUp([upstream.url])
    for (let count = 0; count < 3; count++) await ask().catch(() => {})
    upstream.health = 503
    await probeAll()
    upstream.health = 200
    isBack = true
    await expect(ask()).rejects.toThrow('none of its endpoints is up')

    await probeAll()

    expect(set.all.map(({ takesWork }) => takesWork)).toEqual([false])
    expect((await ask()).kind).toBe('answered')
    expect(set.all.map(({ takesWork }) => takesWork)).toEqual([true])
    await set.close()
  })

  it('of refused connections is one that a probe ends', async () => {
    const { set, ask } = await setUp(['http://127.0.0.1:9'])
    for (let count = 0; count < 2; count++) await expect(ask()).rejects.toThrow('do not answer')
    await expect(ask()).rejects.toThrow('none of its endpoints is up')

    for (const { breaker } of set.all) breaker.recordPresence({ isBack: true })

    await expect(ask()).rejects.toThrow('do not answer')
    await set.close()
  })
})
