import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createTlsFolder,
  fixture,
  pairOf,
  readFixture,
  VALID_UNIX_SECONDS,
} from '../../../test/support/net/tls-files.ts'
import { VirtualClock } from '../../core/clock.ts'
import { type CertificateFiles, CertificateProblem, readCertificate } from './certificate.ts'

const clock = new VirtualClock(VALID_UNIX_SECONDS)

async function problemOf(files: Partial<CertificateFiles>, at = clock): Promise<string> {
  const error = await readCertificate({ ...pairOf('first'), ...files }, at).then(
    () => new Error('It was read.'),
    (error: Error) => error,
  )
  expect(error).toBeInstanceOf(CertificateProblem)
  return error.message
}

function writeFileOf(content: string | Buffer): string {
  const file = path.join(createTlsFolder().folder, 'file.pem')
  writeFileSync(file, content)
  return file
}

describe('readCertificate', () => {
  it('reads a pair and says how long it is valid', async () => {
    const certificate = await readCertificate(pairOf('first'), clock)

    expect(certificate.cert.equals(readFixture('first.crt'))).toBe(true)
    expect(certificate.validToUnixSeconds).toBe(Date.UTC(2120, 0, 1) / 1000)
    expect(certificate.digest).toBe((await readCertificate(pairOf('first'), clock)).digest)
    expect(certificate.digest).not.toBe((await readCertificate(pairOf('second'), clock)).digest)
  })

  it('reads a chain, and one file that holds both', async () => {
    const chain = Buffer.concat([readFixture('first.crt'), readFixture('second.crt')])
    const certfile = writeFileOf(chain)
    expect((await readCertificate({ ...pairOf('first'), certfile }, clock)).cert.equals(chain)).toBe(true)

    for (const names of [
      ['first.crt', 'first.key'],
      ['first.key', 'first.crt'],
    ]) {
      const both = writeFileOf(Buffer.concat(names.map(readFixture)))
      await expect(readCertificate({ certfile: both, keyfile: both }, clock)).resolves.toBeDefined()
    }
  })

  it.each(['cert', 'key'] as const)('names the option and the %s file that cannot be read', async (kind) => {
    const option = `--tls-${kind}file`
    const { folder } = createTlsFolder()
    const large = path.join(folder, 'large')
    writeFileSync(large, '')
    truncateSync(large, 1024 * 1024 + 1)
    mkdirSync(path.join(folder, 'sub'))

    const problem = (file: string) => problemOf({ [`${kind}file`]: file })
    expect(await problem('/no/such/file')).toBe(`${option} '/no/such/file' does not exist.`)
    expect(await problem(`${large}/x`)).toBe(`${option} '${large}/x' does not exist.`)
    expect(await problem(`${folder}/sub`)).toBe(`${option} '${folder}/sub' is not a file.`)
    expect(await problem('/dev/null')).toBe(`${option} '/dev/null' is not a file.`)
    expect(await problem(large)).toBe(`${option} '${large}' must be at most 1048576 bytes, but is 1048577.`)
  })

  it('tells what a file holds instead', async () => {
    const der = writeFileOf(Buffer.from([0x30, 0x82, 1, 2]))
    const { publicKey } = generateKeyPairSync('ed25519')
    const publicPem = writeFileOf(publicKey.export({ type: 'spki', format: 'pem' }))
    const first = createPrivateKey(readFixture('first.key'))
    const encrypted = [
      first.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' }),
      first.export({ type: 'sec1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' }),
    ].map(writeFileOf)
    const { keyfile } = pairOf('first')

    expect(await problemOf({ certfile: der })).toBe(`--tls-certfile '${der}' holds no PEM certificate.`)
    expect(await problemOf({ certfile: keyfile })).toBe(
      `--tls-certfile '${keyfile}' holds no PEM certificate.`,
    )
    expect(await problemOf({ certfile: writeFileOf('') })).toMatch(/holds no PEM certificate\.$/)
    expect(await problemOf({ keyfile: der })).toBe(`--tls-keyfile '${der}' holds no PEM private key.`)
    expect(await problemOf({ keyfile: publicPem })).toMatch(/holds no PEM private key\.$/)
    for (const file of encrypted) {
      expect(await problemOf({ keyfile: file })).toBe(
        `--tls-keyfile '${file}' is encrypted; give a key without a passphrase.`,
      )
    }
  })

  it('refuses files that are cut off', async () => {
    const cut = (name: string) => {
      const pem = readFixture(name).toString()
      return writeFileOf(pem.replace(/\n.{20}/, '\n'))
    }
    expect(await problemOf({ certfile: cut('first.crt') })).toMatch(/holds a certificate that is damaged\.$/)
    expect(await problemOf({ keyfile: cut('first.key') })).toMatch(/holds a private key that is damaged\.$/)
  })

  it('refuses a key of another certificate', async () => {
    const { keyfile } = pairOf('second')
    expect(await problemOf({ keyfile })).toBe(
      `--tls-keyfile '${keyfile}' is not the key of the certificate in --tls-certfile '${fixture('first.crt')}'.`,
    )
  })

  it('refuses a certificate outside its time', async () => {
    const certfile = fixture('expired.crt')
    expect(await problemOf({ certfile })).toBe(
      `--tls-certfile '${certfile}' has expired: it ended Feb  1 00:00:00 2020 GMT.`,
    )
    expect(await problemOf({}, new VirtualClock(Date.UTC(2121, 0, 1) / 1000))).toMatch(
      /has expired: it ended/,
    )
    expect(await problemOf({}, new VirtualClock(Date.UTC(2019, 0, 1) / 1000))).toBe(
      `--tls-certfile '${fixture('first.crt')}' is not valid yet: it begins Jan  1 00:00:00 2020 GMT.`,
    )
    const within = new VirtualClock(Date.UTC(2020, 0, 15) / 1000)
    await expect(readCertificate({ ...pairOf('first'), certfile }, within)).resolves.toBeDefined()
  })
})
