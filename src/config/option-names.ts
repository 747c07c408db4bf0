/** The spellings of an option in each place. */

/** `maxBatchSize` → `--max-batch-size`. */
export function flagName(name: string): string {
  return `--${toKebabCase(name)}`
}

/** `maxBatchSize` → `SLUICE_MAX_BATCH_SIZE`. */
export function envName(name: string): string {
  return `SLUICE_${toKebabCase(name).replaceAll('-', '_').toUpperCase()}`
}

function toKebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
