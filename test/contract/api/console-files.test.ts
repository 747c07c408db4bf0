/** The console as it is served: where, with which headers, and what of it a browser keeps. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readConsole } from '../../../src/api/console/console-files.ts'
import { createTestApp } from '../../support/servers/test-app.ts'
import { whenUnused } from '../../support/shared.ts'

const PAGE = '<!doctype html><script type="module" src="./assets/app-3fa9.js"></script>'
const SCRIPT = 'console.log("x");'.repeat(100)
const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8'

function createConsole() {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-console-'))
  whenUnused(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(path.join(folder, 'assets'))
  writeFileSync(path.join(folder, 'index.html'), PAGE)
  writeFileSync(path.join(folder, 'favicon.svg'), '<svg/>')
  writeFileSync(path.join(folder, 'assets', 'app-3fa9.js'), SCRIPT)
  writeFileSync(path.join(folder, 'assets', 'app-3fa9.js.map'), '{}')
  return createTestApp({ console: readConsole(folder) })
}

describe('the page', () => {
  it('is at / for a browser, and what the server is for all others', async () => {
    const { app } = createConsole()

    const page = await app.inject({ url: '/', headers: { accept: HTML } })
    const other = await app.inject({ url: '/', headers: { accept: '*/*' } })

    expect(page.body).toBe(PAGE)
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      vary: 'Accept, Accept-Encoding',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    })
    expect(other.json()).toMatchObject({ name: 'sluice' })
  })

  it('is what the server is where no console is served', async () => {
    const { app } = createTestApp()

    expect((await app.inject({ url: '/', headers: { accept: HTML } })).json()).toMatchObject({
      name: 'sluice',
    })
    expect(readConsole(path.join(tmpdir(), 'no-such-folder'))).toBeNull()
  })

  it('is not sent again to who has it', async () => {
    const { app } = createConsole()
    const { etag } = (await app.inject({ url: '/', headers: { accept: HTML } })).headers

    const again = await app.inject({ url: '/', headers: { accept: HTML, 'if-none-match': `W/${etag}` } })

    expect(again.statusCode).toBe(304)
    expect(again.body).toBe('')
    expect(again.headers.etag).toBe(etag)
  })

  it('has a head', async () => {
    const { app } = createConsole()

    const answer = await app.inject({ method: 'HEAD', url: '/', headers: { accept: HTML } })

    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-length']).toBe(String(PAGE.length))
    expect(answer.body).toBe('')
  })
})

describe('a file of the page', () => {
  it('is kept for ever where its name has the hash of its content, and comes compressed', async () => {
    const { app } = createConsole()

    const plain = await app.inject('/assets/app-3fa9.js')
    const zipped = await app.inject({
      url: '/assets/app-3fa9.js',
      headers: { 'accept-encoding': 'br, gzip' },
    })
    const unwanted = await app.inject({
      url: '/assets/app-3fa9.js',
      headers: { 'accept-encoding': 'gzip;q=0, identity' },
    })

    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    })
    expect(plain.body).toBe(SCRIPT)
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(zipped.rawPayload).toString()).toBe(SCRIPT)
    expect(zipped.headers.etag).not.toBe(plain.headers.etag)
    expect(unwanted.body).toBe(SCRIPT)
  })

  it('is one of those that were built: no other, no source map, and nothing outside', async () => {
    const { app } = createConsole()

    expect((await app.inject('/favicon.svg')).headers['cache-control']).toBe('no-cache')
    for (const url of [
      '/assets/app-3fa9.js.map',
      '/assets/',
      '/index.html',
      '/assets/..%2f..%2fpackage.json',
    ])
      expect((await app.inject(url)).statusCode).toBe(404)
  })
})
