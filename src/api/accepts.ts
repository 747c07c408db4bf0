/** Content negotiation, as far as there is anything to choose (RFC 9110, sections 12.5.1 and 12.5.3). Called by routes. */

/** Whether a header names it and not with a weight of nothing; a wildcard names nothing. */
export function acceptsNamed(given: string | readonly string[] = '', name: string): boolean {
  return String(given)
    .split(',')
    .some((one) => isAccepted(one, name))
}

/** Whether it is the first that a header names. */
export function prefersNamed(given = '', name: string): boolean {
  return isAccepted(given.split(',', 1)[0] ?? '', name)
}

function isAccepted(one: string, name: string): boolean {
  const [type = '', ...parameters] = one.split(';')
  const isRefused = parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/i.test(parameter))
  return type.trim().toLowerCase() === name && !isRefused
}
