import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createTlsFolder,
  fixture,
  pointLink,
  VALID_UNIX_SECONDS,
} from '../../../test/support/net/tls-files.ts'
import { VirtualClock } from '../../core/clock.ts'
import { createLog } from '../../telemetry/log.ts'
import { type Certificate, type CertificateFiles, readCertificate } from './certificate.ts'
import { CertificateReloader } from './certificate-reloader.ts'

const DAY_MS = 86_400_000
const KEPT = 'the TLS files cannot be used; the certificate from before goes on serving'

/** For a test that says itself when the files are read: never. */
const BY_HAND = { readEveryMs: 2 ** 30 }

/** A reloader of these files, and what it logs. */
async function createReloader(
  files: CertificateFiles,
  { startUnixSeconds = VALID_UNIX_SECONDS, readEveryMs = 1, take = (): void => {} } = {},
) {
  const clock = new VirtualClock(startUnixSeconds)
  const lines: Record<string, unknown>[] = []
  const listeners = new Set<() => void>()
  const tell = () => listeners.forEach((listener) => listener())
  const write = (line: string) => {
    lines.push(JSON.parse(line) as Record<string, unknown>)
    tell()
  }
  const news: Certificate[] = []
  const certificate = await readCertificate(files, clock)
  const reloader = new CertificateReloader({
    files,
    certificate,
    onNew: (one) => {
      take()
      news.push(one)
      tell()
    },
    clock,
    log: createLog({ destination: { write } }),
    readEveryMs,
  })
  onTestFinished(() => reloader.close())
  /** Resolves as soon as it holds. */
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!holds()) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      look()
    })
  return { reloader, clock, news, lines, messages: () => lines.map(({ msg }) => msg), until }
}

describe('CertificateReloader', () => {
  it('takes a pair whose files are replaced one after the other, and says nothing of the time between', async () => {
    const tls = createTlsFolder()
    const { news, until, messages } = await createReloader(tls)

    tls.replace('cert', fixture('second.crt'))
    tls.replace('key', fixture('second.key'))
    await until(() => news.length === 1)

    expect(news[0]?.cert.toString()).toContain('BEGIN CERTIFICATE')
    await until(() => messages().length === 1)
    expect(messages()).toEqual(['the TLS certificate was replaced'])
  })

  it('takes a pair behind links that are pointed elsewhere, as certbot and Kubernetes do', async () => {
    const { folder } = createTlsFolder()
    for (const pair of ['first', 'second']) mkdirSync(path.join(folder, pair))
    const files = { certfile: path.join(folder, 'live.crt'), keyfile: path.join(folder, 'live.key') }
    pointLink(path.join(folder, '..data'), path.dirname(fixture('first.crt')))
    pointLink(files.certfile, '..data/first.crt')
    pointLink(files.keyfile, '..data/first.key')
    const { news, until } = await createReloader(files)

    pointLink(files.certfile, fixture('second.crt'))
    pointLink(files.keyfile, fixture('second.key'))
    await until(() => news.length === 1)

    // Both at once, through the one link that both go through.
    pointLink(files.certfile, '..data/server.crt')
    pointLink(files.keyfile, '..data/server.key')
    pointLink(path.join(folder, '..data'), createTlsFolder('first').folder)
    await until(() => news.length === 2)
    expect(news[0]?.digest).not.toBe(news[1]?.digest)
  })

  it('offers a certificate again that the server could not take', async () => {
    const tls = createTlsFolder()
    let tries = 0
    const take = (): void => {
      tries++
      if (tries === 1) throw new Error('not now')
    }
    const { reloader, news, messages } = await createReloader(tls, { ...BY_HAND, take })

    tls.replace('cert', fixture('second.crt'))
    tls.replace('key', fixture('second.key'))
    await reloader.reload()
    expect(messages()).toEqual([KEPT])
    await reloader.reload()
    expect(news).toHaveLength(1)
  })

  it('reads at once when it is told to, and keeps what it has when that cannot be used', async () => {
    const tls = createTlsFolder()
    const { reloader, news, lines, messages } = await createReloader(tls, BY_HAND)

    await reloader.reload()
    expect(messages()).toEqual(['the TLS files are unchanged'])

    tls.replace('key', fixture('second.key'))
    await reloader.reload()
    tls.replace('cert', fixture('expired.crt'))
    tls.replace('key', fixture('first.key'))
    await reloader.reload()
    rmSync(tls.certfile)
    await reloader.reload()
    expect(news).toEqual([])
    expect(lines.slice(1).map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', KEPT],
      ['warn', KEPT],
      ['warn', KEPT],
    ])
    expect(lines.slice(1).map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/^--tls-keyfile .* is not the key of the certificate in --tls-certfile /),
      expect.stringMatching(/^--tls-certfile .* has expired: /),
      expect.stringMatching(/^--tls-certfile .* does not exist\.$/),
    ])

    tls.replace('cert', fixture('second.crt'))
    tls.replace('key', fixture('second.key'))
    await reloader.reload()
    expect(news).toHaveLength(1)
    await reloader.reload()
    expect(messages().slice(-2)).toEqual(['the TLS certificate was replaced', 'the TLS files are unchanged'])
  })

  it('says once that files go on not fitting together, and takes them when they do', async () => {
    const tls = createTlsFolder()
    const { reloader, news, messages, until } = await createReloader(tls)

    tls.replace('key', fixture('second.key'))
    await until(() => messages().length === 1)
    await reloader.check()
    tls.replace('cert', fixture('second.crt'))
    await until(() => messages().length === 2)

    expect(news).toHaveLength(1)
    expect(messages()).toEqual([KEPT, 'the TLS certificate was replaced'])
  })

  it('says nothing when something else happens in the folder', async () => {
    const tls = createTlsFolder()
    const { reloader, news, messages } = await createReloader(tls)

    appendFileSync(path.join(tls.folder, 'other'), 'x')
    await reloader.check()
    await reloader.reload()

    expect(news).toEqual([])
    expect(messages()).toEqual(['the TLS files are unchanged'])
  })

  it('finds new bytes behind links by itself, where nothing happens in the folder of the links', async () => {
    const tls = createTlsFolder()
    const inner = path.join(tls.folder, 'inner')
    mkdirSync(inner)
    const files = { certfile: path.join(inner, 'c'), keyfile: path.join(inner, 'k') }
    pointLink(files.certfile, tls.certfile)
    pointLink(files.keyfile, tls.keyfile)
    const { reloader, news, until } = await createReloader(files)

    tls.replace('cert', fixture('second.crt'))
    tls.replace('key', fixture('second.key'))
    await reloader.check()
    await until(() => news.length === 1)
  })

  it('warns once a day from 14 days before the end on', async () => {
    const end = Date.UTC(2120, 0, 1) / 1000
    const { reloader, clock, lines } = await createReloader(createTlsFolder(), {
      startUnixSeconds: end - 15 * 86_400,
    })
    expect(lines).toEqual([])

    clock.advance(DAY_MS)
    await reloader.check()
    await reloader.check()
    clock.advance(DAY_MS / 2)
    await reloader.check()
    expect(lines).toMatchObject([
      {
        level: 'warn',
        msg: 'the TLS certificate ends soon',
        daysLeft: 14,
        validTo: '2120-01-01T00:00:00.000Z',
      },
    ])

    clock.advance(DAY_MS / 2)
    await reloader.check()
    clock.advance(13 * DAY_MS)
    await reloader.check()
    expect(lines.map(({ msg, daysLeft }) => [msg, daysLeft])).toEqual([
      ['the TLS certificate ends soon', 14],
      ['the TLS certificate ends soon', 13],
      ['the TLS certificate has expired', 0],
    ])
  })

  it('warns at once of a new certificate that ends soon as well, though it has warned of the old one', async () => {
    const tls = createTlsFolder()
    const startUnixSeconds = Date.UTC(2119, 11, 30) / 1000
    const { reloader, lines } = await createReloader(tls, { ...BY_HAND, startUnixSeconds })

    tls.replace('cert', fixture('second.crt'))
    tls.replace('key', fixture('second.key'))
    await reloader.reload()

    expect(lines.map(({ msg, daysLeft }) => [msg, daysLeft])).toEqual([
      ['the TLS certificate ends soon', 2],
      ['the TLS certificate was replaced', undefined],
      ['the TLS certificate ends soon', 2],
    ])
  })

  it('warns at the start', async () => {
    const { lines } = await createReloader(createTlsFolder(), {
      startUnixSeconds: Date.UTC(2119, 11, 30) / 1000,
    })

    expect(lines).toMatchObject([{ level: 'warn', daysLeft: 2 }])
  })
})
