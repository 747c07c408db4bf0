/** Values of `format` that are kept to, as regular expressions of texts that every validator takes. */
const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const DATE =
  '[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))'
const TIME = '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])'
/** One less than it may have, so that four of them are a name, which has 253 characters at most. */
const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,60}[A-Za-z0-9])?'
const HEX16 = '[0-9a-fA-F]{1,4}'

const MAILBOX = '[A-Za-z0-9_+-]{1,20}(\\.[A-Za-z0-9_+-]{1,20}){0,2}'
const ORIGIN = `[a-z][a-z0-9+-]{1,10}://${LABEL}(\\.${LABEL}){0,3}(:[0-9]{1,4})?`

interface Format {
  readonly pattern: string
  /** Characters of its shortest and its longest text. */
  readonly lengths: readonly [number, number]
}

/** Those of a name allow less and less; the later ones are for where a length is given. */
const FORMATS: ReadonlyMap<unknown, readonly [Format, ...Format[]]> = new Map([
  ['date', [{ pattern: DATE, lengths: [10, 10] }]],
  ['time', [{ pattern: TIME, lengths: [9, 24] }]],
  ['date-time', [{ pattern: `${DATE}T${TIME}`, lengths: [20, 35] }]],
  [
    'uuid',
    [
      {
        pattern: '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}',
        lengths: [36, 36],
      },
    ],
  ],
  [
    'email',
    [
      { pattern: `${MAILBOX}@${LABEL}(\\.${LABEL}){1,3}`, lengths: [5, 314] },
      { pattern: `${MAILBOX}@${LABEL}(\\.${LABEL}){1,2}`, lengths: [5, 251] },
    ],
  ],
  [
    'hostname',
    [
      { pattern: `${LABEL}(\\.${LABEL}){0,3}`, lengths: [1, 251] },
      { pattern: `${LABEL}(\\.${LABEL}){0,2}`, lengths: [1, 188] },
    ],
  ],
  ['ipv4', [{ pattern: `${OCTET}(\\.${OCTET}){3}`, lengths: [7, 15] }]],
  ['ipv6', [{ pattern: `${HEX16}(:${HEX16}){7}`, lengths: [15, 39] }]],
  [
    'uri',
    [
      {
        pattern: `${ORIGIN}(/[A-Za-z0-9._~-]+)*/?(\\?[A-Za-z0-9=&._~-]*)?`,
        lengths: [6, Infinity],
      },
      {
        pattern: `${ORIGIN}(/[A-Za-z0-9._~-]{1,32}){0,8}/?(\\?[A-Za-z0-9=&._~-]{0,128})?`,
        lengths: [6, 664],
      },
    ],
  ],
  [
    'duration',
    [
      {
        pattern: 'P([0-9]{1,6}D(T[0-9]{1,6}[HMS])?|T[0-9]{1,6}[HMS]|[0-9]{1,6}[WYM])',
        lengths: [3, 16],
      },
    ],
  ],
  ['json-pointer', [{ pattern: '(/([A-Za-z0-9_.-]|~[01])*)*', lengths: [0, Infinity] }]],
])

/** The regular expression of a format whose texts all keep to these lengths, and of any length; null for a format that is not known. */
export function formatPatterns(
  format: unknown,
  [least, most]: readonly [number, number],
): { readonly any: string; readonly within: string | null } | null {
  const known = FORMATS.get(format)
  if (known === undefined) return null
  const fitting = known.find(({ lengths: [shortest, longest] }) => shortest >= least && longest <= most)
  return { any: known[0].pattern, within: fitting?.pattern ?? null }
}
