/** What the configuration file says in vain: an image or a service unit sets variables that its reader does not see. */
import { isDeepStrictEqual } from 'node:util'
import { readConfigFile } from '../config/config-file.ts'
import { envName } from '../config/option-names.ts'
import { type OptionName, OPTIONS } from '../config/options.ts'
import type { GivenOptions } from '../config/resolve.ts'
import { readValue } from '../config/value-kinds.ts'
import { StartError } from '../core/errors.ts'

/**
 * Names the variables that give another value than the file, in one sentence without a value; null where there are none. What the
 * command line gives counts for neither.
 */
export function describeOverridden(
  names: readonly OptionName[],
  { flags = {}, env = {} }: Pick<GivenOptions, 'flags' | 'env'>,
): string | null {
  const file = flags['config'] ?? env[envName('config')]
  if (typeof file !== 'string' || file === '') return null
  const { values } = readConfigFile(file)
  const variables = names
    .filter((name) => flags[name] === undefined && isOverridden(name, values[name], env[envName(name)]))
    .map(envName)
  if (variables.length === 0) return null
  return `${file} has other values than the environment, which wins: ${variables.join(', ')}.`
}

function isOverridden(name: OptionName, inFile: unknown, inEnvironment: string | undefined): boolean {
  if (inFile === undefined || inFile === null || !inEnvironment) return false
  const { kind } = OPTIONS[name]
  const read = (given: unknown) => readValue<unknown>(kind, given, name)
  try {
    return !isDeepStrictEqual(read(inFile), read(inEnvironment))
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    // The environment's was accepted; nobody else asks whether the file's is right.
    return true
  }
}
