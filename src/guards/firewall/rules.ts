/**
 * The firewall's rules, as data. Each reads only the head of a request, in time linear in its length, and none matches
 * what this server's interface allows: ids of models may hold dots, slashes and percent signs, names of keys any text.
 */
/** More than browsers, SDKs and a chain of proxies send together. */
export const MAX_HEADERS = 64
export const MAX_HEADER_BYTES = 8 * 1024
/** The longest id of a model fits, every byte of it encoded. */
export const MAX_TARGET_BYTES = 4096
/** A prompt of 1 MB fits, also where its JSON writes many characters as escapes. */
export const FIREWALL_MAX_BODY_BYTES = 2 * 1024 * 1024

/** As it came over the wire. */
interface RequestHead {
  /** Not decoded. */
  readonly path: string
  /** Not decoded, with its `?`; empty without one. */
  readonly query: string
  /** Names in lower case, repeated ones included. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export interface FirewallRule {
  /** In the answer and the metrics. */
  readonly id: string
  /** The end of "The firewall refused this request: it". */
  readonly reason: string
  /** A shape that HTTP itself does not allow is 400, anything else 403. */
  readonly isMalformed?: true
  readonly matches: (head: RequestHead) => boolean
}

/** Applied to the declared length here, and to other bodies while they are read (`Firewall.bodyLimit`). */
export const BODY_SIZE_RULE: FirewallRule = {
  id: 'body-size',
  reason: `has a body of more than ${FIREWALL_MAX_BODY_BYTES} bytes`,
  matches: ({ headers }) =>
    headers.some(([name, value]) => name === 'content-length' && Number(value) > FIREWALL_MAX_BODY_BYTES),
}

/** In the order in which they are checked; the first that matches is reported. */
export const FIREWALL_RULES: readonly FirewallRule[] = [
  {
    id: 'header-count',
    reason: `has more than ${MAX_HEADERS} headers`,
    matches: ({ headers }) => headers.length > MAX_HEADERS,
  },
  {
    id: 'header-size',
    reason: `has headers of more than ${MAX_HEADER_BYTES} bytes together`,
    // Node reads headers as Latin-1: one character is one byte.
    matches: ({ headers }) =>
      headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > MAX_HEADER_BYTES,
  },
  {
    id: 'target-size',
    reason: `has a path and query of more than ${MAX_TARGET_BYTES} bytes together`,
    matches: ({ path, query }) => path.length + query.length > MAX_TARGET_BYTES,
  },
  BODY_SIZE_RULE,
  {
    id: 'absolute-target',
    reason: 'is addressed to a proxy, which this server is not',
    matches: ({ path }) => /^[a-z][a-z0-9+.-]*:/i.test(path),
  },
  {
    id: 'overlong-utf8',
    reason: 'has a path that hides characters in overlong UTF-8',
    isMalformed: true,
    matches: ({ path }) => /%(?:c[01]|e0%[89]|f0%8|f[5-9a-f])/i.test(path),
  },
  {
    id: 'control-character',
    reason: 'has a control character in its path',
    isMalformed: true,
    matches: ({ path }) => /%(?:[01][0-9a-f]|7f)/i.test(path),
  },
  {
    id: 'null-byte',
    reason: 'has a null byte in its query',
    isMalformed: true,
    matches: ({ query }) => query.includes('%00'),
  },
  {
    id: 'path-traversal',
    reason: 'has a path that climbs out of its folder',
    matches: ({ path }) => climbs(path),
  },
  {
    id: 'double-encoding',
    reason: 'has a path that is percent-encoded twice',
    matches: ({ path }) => !MODEL_PATH.test(path) && /%25(?:25)*(?:2e|2f|5c|00|0[ad])/i.test(path),
  },
  {
    id: 'backslash',
    reason: 'has a backslash in its path',
    matches: ({ path }) => !MODEL_PATH.test(path) && /\\|%5c/i.test(path),
  },
  {
    id: 'scanner-path',
    reason: 'asks for a file that only scanners look for here',
    matches: ({ path }) => SCANNED.some((pattern) => pattern.test(decodeOnce(path))),
  },
  {
    id: 'code-lookup',
    reason: 'holds a lookup that makes some loggers run code',
    matches: ({ path, headers }) =>
      LOOKUP.test(decodeOnce(path)) || headers.some(([, value]) => LOOKUP.test(value)),
  },
  {
    id: 'shell-function',
    reason: 'defines a shell function in a header',
    matches: ({ headers }) => headers.some(([, value]) => value.startsWith('() {')),
  },
  {
    id: 'path-override',
    reason: 'has a header that would replace its path or method',
    matches: ({ headers }) => headers.some(([name]) => OVERRIDES.has(name)),
  },
  {
    id: 'header-lookalike',
    reason: 'has a header that a proxy may take for another, for its underscore',
    matches: ({ headers }) => headers.some(([name]) => LOOKALIKE.test(name)),
  },
  {
    id: 'host-shape',
    reason: 'has a Host header that is no host',
    isMalformed: true,
    matches: ({ headers }) => headers.some(([name, value]) => name === 'host' && !HOST.test(value)),
  },
]

/** An id follows these, of any characters but spaces. */
const MODEL_PATH = /^\/v1\/(?:admin\/)?models\//

/** Nested encodings that are decoded. */
const MAX_DECODINGS = 3

/** `..` as a whole segment, whatever it is encoded as; `..;` is one to some servers of Java. */
const CLIMBING_SEGMENT = /(?:^|[/\\])\.\.(?:[/\\;]|$)/

function climbs(path: string): boolean {
  let decoded = path
  for (let decoding = 0; decoding <= MAX_DECODINGS; decoding++) {
    if (CLIMBING_SEGMENT.test(decoded)) return true
    const next = decodeOnce(decoded)
    if (next === decoded) return false
    decoded = next
  }
  return false
}

/** The first two never match below `/v1/`, where an id may look like that. */
const SCANNED: readonly RegExp[] = [
  // Files with secrets, and repositories.
  /^\/(?!v1\/)(?:.*\/)?\.(?:env|git|svn|hg|aws|ssh|docker|vscode|idea|ds_store|ht(?:access|passwd))(?:[/._-]|$)/i,
  // Scripts in languages that this server is not written in.
  /^\/(?!v1\/).*\.(?:php\d?|phtml|aspx?|ashx|jspx?|cgi|cfm)(?:\/|$)/i,
  // Entry points of other software.
  /^\/(?:wp-(?:admin|content|includes|json)|phpmyadmin|pma|cgi-bin|vendor\/phpunit|actuator|solr|boaform|hnap1|owa|autodiscover|server-status|manager\/html)(?:\/|$)/i,
]

const LOOKUP = /\$\{(?:jndi|env|sys|lower|upper|date):|\$\{\w*::-/i

const OVERRIDES: ReadonlySet<string> = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
])

const LOOKALIKE = /^(?:content_(?:length|type)|transfer_encoding|x_forwarded_\w+)$/

/** RFC 3986, without user information: a name, an IPv4 address or an IPv6 address in brackets, and a port. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+;=%-]*)(?::\d{0,5})?$/i

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
function decodeOnce(text: string): string {
  if (!text.includes('%')) return text
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
