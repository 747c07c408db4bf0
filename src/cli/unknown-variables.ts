/** Variables that are named as those of options and belong to none: a mistyped one would be an option that is silently not set. */
import { readConfigFile } from '../config/config-file.ts'
import { envName } from '../config/option-names.ts'
import { FLAG_NAMES } from '../config/options.ts'
import type { GivenOptions } from '../config/resolve.ts'
import { meantName } from '../core/text/nearest-name.ts'

const PREFIX = 'SLUICE_'

/** Beside those of options, the one that `chat` reads. */
const KNOWN: readonly string[] = [...FLAG_NAMES.map(envName), 'SLUICE_API_KEY']

/** What Kubernetes sets in each container where a service is called sluice. */
const OF_KUBERNETES = /^SLUICE_(?:SERVICE_(?:HOST|PORT)|PORT_\d)/

/** One sentence without a value; null where there are none. */
export function describeUnknownVariables({
  flags = {},
  env = {},
}: Pick<GivenOptions, 'flags' | 'env'>): string | null {
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && env[name] && !KNOWN.includes(name) && !OF_KUBERNETES.test(name),
  )
  if (unknown.length === 0) return null
  // As `env:NAME` in place of a secret, a variable may have any name.
  const file = flags['config'] ?? env[envName('config')]
  const given = [flags, env, typeof file === 'string' && file !== '' ? readConfigFile(file).values : {}]
  const texts = JSON.stringify(given)
  const ignored = unknown.filter((name) => !new RegExp(`env:${name}\\b`).test(texts))
  if (ignored.length === 0) return null
  return `no option has ${ignored.length === 1 ? 'this variable, which is' : 'these variables, which are'} ignored: ${ignored.map(withMeant).join(', ')}.`
}

function withMeant(name: string): string {
  const meant = meantName(name, KNOWN)
  return meant === null ? name : `${name} (did you mean ${meant}?)`
}
