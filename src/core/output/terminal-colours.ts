/** Whether what is written to a stream may be coloured. */

/** On a terminal that knows colours, unless the person wants none (https://no-color.org). */
export function hasColours(
  { isTTY = false }: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}
