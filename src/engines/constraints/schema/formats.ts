/** Values of `format` that are kept to, as regular expressions of texts that every validator takes. */
const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const DATE =
  '[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))'
const TIME = '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])'
const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const HEX16 = '[0-9a-fA-F]{1,4}'

export const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date', DATE],
  ['time', TIME],
  ['date-time', `${DATE}T${TIME}`],
  ['uuid', '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}'],
  ['email', `[A-Za-z0-9_+-]{1,20}(\\.[A-Za-z0-9_+-]{1,20}){0,2}@${LABEL}(\\.${LABEL}){1,3}`],
  ['hostname', `${LABEL}(\\.${LABEL}){0,3}`],
  ['ipv4', `${OCTET}(\\.${OCTET}){3}`],
  ['ipv6', `${HEX16}(:${HEX16}){7}`],
  [
    'uri',
    `[a-z][a-z0-9+-]{1,10}://${LABEL}(\\.${LABEL}){0,3}(:[0-9]{1,4})?(/[A-Za-z0-9._~-]+)*/?(\\?[A-Za-z0-9=&._~-]*)?`,
  ],
  ['duration', 'P([0-9]{1,6}D(T[0-9]{1,6}[HMS])?|T[0-9]{1,6}[HMS]|[0-9]{1,6}[WYM])'],
  ['json-pointer', '(/([A-Za-z0-9_.-]|~[01])*)*'],
])
