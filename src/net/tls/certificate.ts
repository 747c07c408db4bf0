/**
 * The TLS certificate and its key, read from their PEM files and checked against each other and the clock. A problem is
 * one sentence that names the option and the file. It fails the start; a running server logs it as a warning.
 */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Clock } from '../../core/clock.ts'
import { StartError } from '../../core/errors.ts'
import { errorCode } from '../../core/system-error.ts'

export interface CertificateFiles {
  readonly certfile: string
  readonly keyfile: string
}

export interface CertificatePair {
  /** The chain, the server's own certificate first. */
  readonly cert: Buffer
  readonly key: Buffer
  /** SHA-256 of the bytes of both files. */
  readonly digest: string
}

export interface Certificate extends CertificatePair {
  readonly validToUnixSeconds: number
}

export const MIN_TLS_VERSION = 'TLSv1.2'

/** `--tls-certfile` or `--tls-keyfile` cannot be used. */
export class CertificateProblem extends StartError {
  constructor(message: string) {
    super(message, 1)
  }
}

/** The files of `--tls-certfile` and `--tls-keyfile`, and the certificate read from them at the start. */
export interface TlsIdentity {
  readonly files: CertificateFiles
  readonly certificate: Certificate
}

/** @throws CertificateProblem */
export async function readCertificate(files: CertificateFiles, clock: Clock): Promise<Certificate> {
  return checkPair(await readPair(files), files, clock)
}

/** Both files as they are, unchecked. @throws CertificateProblem */
export async function readPair({ certfile, keyfile }: CertificateFiles): Promise<CertificatePair> {
  const cert = await readPem(certfile, certLabel(certfile))
  const key = await readPem(keyfile, keyLabel(keyfile))
  return { cert, key, digest: createHash('sha256').update(cert).update('\0').update(key).digest('hex') }
}

/** @throws CertificateProblem */
export function checkPair(
  pair: CertificatePair,
  { certfile, keyfile }: CertificateFiles,
  clock: Clock,
): Certificate {
  const label = certLabel(certfile)
  const parsed = parseCertificate(pair.cert, label)
  if (!parsed.checkPrivateKey(parseKey(pair.key, keyLabel(keyfile)))) {
    throw new CertificateProblem(`${keyLabel(keyfile)} is not the key of the certificate in ${label}.`)
  }
  checkValidity(parsed, { label, clock })
  checkUsable(pair, label)
  return { ...pair, validToUnixSeconds: Date.parse(parsed.validTo) / 1000 }
}

const certLabel = (path: string): string => `--tls-certfile '${path}'`
const keyLabel = (path: string): string => `--tls-keyfile '${path}'`

/** Chains are a few kB. */
const MAX_FILE_BYTES = 1024 * 1024

const READ_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
}

async function readPem(path: string, label: string): Promise<Buffer> {
  try {
    const stats = await stat(path)
    if (!stats.isFile()) throw new CertificateProblem(`${label} is not a file.`)
    if (stats.size > MAX_FILE_BYTES) {
      throw new CertificateProblem(`${label} must be at most ${MAX_FILE_BYTES} bytes, but is ${stats.size}.`)
    }
    return await readFile(path)
  } catch (error) {
    if (error instanceof CertificateProblem) throw error
    const code = errorCode(error) ?? 'unknown'
    throw new CertificateProblem(`${label} ${READ_FAILURES[code] ?? `cannot be read (${code})`}.`)
  }
}

function parseCertificate(pem: Buffer, label: string): X509Certificate {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw new CertificateProblem(`${label} holds no PEM certificate.`)
  }
  try {
    return new X509Certificate(pem)
  } catch {
    throw new CertificateProblem(`${label} holds a certificate that is damaged.`)
  }
}

const PEM_KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/
const ENCRYPTED_PEM_KEY = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m

function parseKey(pem: Buffer, label: string): KeyObject {
  const text = pem.toString('latin1')
  if (ENCRYPTED_PEM_KEY.test(text)) {
    throw new CertificateProblem(`${label} is encrypted; give a key without a passphrase.`)
  }
  if (!PEM_KEY.test(text)) throw new CertificateProblem(`${label} holds no PEM private key.`)
  try {
    return createPrivateKey(pem)
  } catch {
    throw new CertificateProblem(`${label} holds a private key that is damaged.`)
  }
}

function checkValidity(
  { validFrom, validTo }: X509Certificate,
  { label, clock }: { label: string; clock: Clock },
): void {
  const nowMs = clock.unixSeconds() * 1000
  if (nowMs > Date.parse(validTo)) throw new CertificateProblem(`${label} has expired: it ended ${validTo}.`)
  if (nowMs < Date.parse(validFrom)) {
    throw new CertificateProblem(`${label} is not valid yet: it begins ${validFrom}.`)
  }
}

/** Problems that OpenSSL reports only when it creates a context: a short key, an old signature, a damaged chain. */
function checkUsable(pair: Pick<Certificate, 'cert' | 'key'>, label: string): void {
  try {
    createSecureContext({ ...pair, minVersion: MIN_TLS_VERSION })
  } catch (error) {
    const reason =
      error instanceof Error && 'reason' in error ? String(error.reason) : 'the TLS library refuses it'
    throw new CertificateProblem(`${label} cannot be used: ${reason}.`)
  }
}
