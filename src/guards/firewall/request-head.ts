/** The head of a request as the firewall's rules read it: as it came over the wire. */

export interface RequestHead {
  /** Not decoded. */
  readonly path: string
  /** Not decoded, with its `?`; empty without one. */
  readonly query: string
  /** Names in lower case, repeated ones included. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export function readHead({
  target,
  rawHeaders,
}: {
  readonly target: string
  /** Names and values alternate. */
  readonly rawHeaders: readonly string[]
}): RequestHead {
  const end = target.indexOf('?')
  const headers: [string, string][] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.push([rawHeaders[index]?.toLowerCase() ?? '', rawHeaders[index + 1] ?? ''])
  }
  return {
    path: end < 0 ? target : target.slice(0, end),
    query: end < 0 ? '' : target.slice(end),
    headers,
  }
}

/** Decodes percent-encoding once, each byte to the character of its code; what is not an encoding stays. */
export function decodeOnce(text: string): string {
  if (!text.includes('%')) return text
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
