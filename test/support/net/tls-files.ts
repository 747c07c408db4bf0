/** The certificates of `test/fixtures/tls`, and folders that hold copies of them under other names. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { whenUnused } from '../shared.ts'
import type { CertificateFiles } from '../../../src/net/tls/certificate.ts'

const FIXTURES = path.resolve(import.meta.dirname, '../../fixtures/tls')

/** A moment within the validity of `first` and `second`. */
export const VALID_UNIX_SECONDS = Date.UTC(2030, 0, 1) / 1000

export type PairName = 'first' | 'second'

export const fixture = (name: string) => path.join(FIXTURES, name)

export const readFixture = (name: string) => readFileSync(fixture(name))

export const pairOf = (name: PairName): CertificateFiles => ({
  certfile: fixture(`${name}.crt`),
  keyfile: fixture(`${name}.key`),
})

export interface TlsFolder extends CertificateFiles {
  readonly folder: string
  /** Puts a file in the place of another, as tools do: under another name first. */
  readonly replace: (kind: 'cert' | 'key', source: string) => void
}

/** A folder with `server.crt` and `server.key`; it goes with the test. */
export function createTlsFolder(pair: PairName = 'first'): TlsFolder {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-tls-'))
  whenUnused(() => rmSync(folder, { recursive: true, force: true }))
  const certfile = path.join(folder, 'server.crt')
  const keyfile = path.join(folder, 'server.key')
  const replace = (kind: 'cert' | 'key', source: string) => {
    const target = kind === 'cert' ? certfile : keyfile
    cpSync(source, `${target}.new`)
    renameSync(`${target}.new`, target)
  }
  replace('cert', fixture(`${pair}.crt`))
  replace('key', fixture(`${pair}.key`))
  return { folder, certfile, keyfile, replace }
}

/** Makes `link` point to `target`, in one step when it is there already. */
export function pointLink(link: string, target: string): void {
  symlinkSync(target, `${link}.new`)
  renameSync(`${link}.new`, link)
}
