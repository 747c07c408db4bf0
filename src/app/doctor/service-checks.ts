/** The certificate and the upstream's endpoints. */
import type { Clock } from '../../core/clock.ts'
import { DNS_PREFIX, withVersion } from '../../engines/remote/endpoint-url.ts'
import { readCertificate } from '../../net/tls/certificate.ts'
import { type Finding, ok, warning } from './finding.ts'

const SECONDS_PER_DAY = 86_400
const SOON_DAYS = 14

/** @throws StartError */
export async function checkCertificate(
  files: { readonly certfile: string; readonly keyfile: string },
  clock: Clock,
): Promise<Finding> {
  const { validToUnixSeconds } = await readCertificate(files, clock)
  const days = Math.floor((validToUnixSeconds - clock.unixSeconds()) / SECONDS_PER_DAY)
  const text = `Valid until ${new Date(validToUnixSeconds * 1000).toISOString().slice(0, 10)}.`
  return days < SOON_DAYS
    ? warning('certificate', `${text} Renew it, and send SIGHUP.`)
    : ok('certificate', text)
}

const ANSWER_TIMEOUT_MS = 5000

/** Whether an endpoint lists its models; a name of DNS is not looked up. */
export async function checkEndpoint(endpoint: string, apiKey: string | null): Promise<Finding> {
  const subject = 'upstream'
  const url = endpoint.startsWith(DNS_PREFIX) ? endpoint.slice(DNS_PREFIX.length) : endpoint
  try {
    const response = await fetch(`${withVersion(url)}/models`, {
      headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    if (response.ok) return ok(subject, `${endpoint} answers.`)
    return warning(
      subject,
      `${endpoint} answers with status ${response.status}: look at its key and the path.`,
    )
  } catch {
    return warning(subject, `${endpoint} does not answer; requests wait for it or go to another endpoint.`)
  }
}
