/** The rules of JSON itself, as grammars share them. Each is added with those it needs once it is used. */

interface Rule {
  readonly body: string
  readonly needs: readonly string[]
}

/** A character of a string that JSON does not escape. */
export const PLAIN = '[^"\\\\\\u0000-\\u001f]'
/**
 * The rest of a string, to its closing quotation mark. In one rule, and with the class written out, because XGrammar can decide
 * then which tokens fit when it compiles: a rule for each character makes a mask a hundred times as slow.
 */
export const STRING_REST = `${PLAIN}* (escaped ${PLAIN}*)* "\\""`

/**
 * Numbers of a schema keep to as many digits as a double can hold, or they would be read as infinite. Whitespace of a schema's
 * text is that of usual layouts, and none where no layout has any: a model could otherwise write spaces without an end.
 */
const RULES: Readonly<Record<string, Rule>> = {
  ws: { body: '"" | " " | "\\n" [ \\t]{0,20}', needs: [] },
  colon: { body: '":" " "?', needs: [] },
  comma: { body: '"," ws', needs: ['ws'] },
  hex: { body: '[0-9a-fA-F]', needs: [] },
  escaped: {
    body:
      '"\\\\" (["\\\\/bfnrt] | "u" (([0-9a-cA-CefEF] hex | [dD] [0-7]) hex hex' +
      ' | [dD] [89abAB] hex hex "\\\\u" [dD] [c-fC-F] hex hex))',
    needs: ['hex'],
  },
  string: { body: `"\\"" ${STRING_REST}`, needs: ['escaped'] },
  integer: { body: '"-"? ("0" | [1-9] [0-9]{0,14})', needs: [] },
  number: { body: 'integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?', needs: ['integer'] },
  value: {
    body: 'object | array | string | number | "true" | "false" | "null"',
    needs: ['object', 'array', 'string', 'number'],
  },
  object: {
    body: '"{" ws (string colon value (comma string colon value)* ws)? "}"',
    needs: ['ws', 'colon', 'comma', 'string', 'value'],
  },
  array: { body: '"[" ws (value (comma value)* ws)? "]"', needs: ['ws', 'comma', 'value'] },
}

/** Where any JSON may stand, any number and any whitespace may. */
const LOOSE_RULES: Readonly<Record<string, Rule>> = {
  ...RULES,
  ws: { body: '[ \\n\\t\\r]*', needs: [] },
  colon: { body: 'ws ":" ws', needs: ['ws'] },
  comma: { body: 'ws "," ws', needs: ['ws'] },
  integer: { body: '"-"? ("0" | [1-9] [0-9]*)', needs: [] },
  number: { body: 'integer ("." [0-9]+)? ([eE] [-+]? [0-9]+)?', needs: ['integer'] },
}

/** Adds a rule of JSON, and those it needs, to a grammar's rules. */
export function addJsonRule(rules: Map<string, string>, name: string, from = RULES): void {
  const rule = from[name]
  if (rule === undefined || rules.has(name)) return
  rules.set(name, rule.body)
  for (const needed of rule.needs) addJsonRule(rules, needed, from)
}

export function writeRules(rules: ReadonlyMap<string, string>): string {
  return Array.from(rules, ([name, body]) => `${name} ::= ${body}`).join('\n')
}

/** Any JSON object. */
export function jsonObjectGrammar(): string {
  const rules = new Map([['root', 'object']])
  addJsonRule(rules, 'object', LOOSE_RULES)
  return writeRules(rules)
}
