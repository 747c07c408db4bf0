/**
 * The library's interpreter of Jinja, with what published templates use of Jinja and the library lacks: dictionaries with
 * whole numbers as keys, tuples that a loop unpacks, `format` of a text, `min` and `max`, `string` of a dictionary, loops over
 * texts, and filters, loops and keys of what is none or not there. Each part of a template that is evaluated is counted.
 */
import { Environment, Interpreter } from '@huggingface/jinja'

/** What is used of the library's classes, whose own types TypeScript does not find. */
interface JinjaValue {
  readonly type: string
  readonly value: unknown
  readonly builtins: ReadonlyMap<string, JinjaValue>
  toString(): string
}

interface JinjaDictionary extends JinjaValue {
  readonly builtins: Map<string, JinjaValue>
  keys: () => JinjaValue
  items: () => JinjaValue
}

interface JinjaNode {
  readonly type: string
  readonly [field: string]: unknown
}

interface JinjaInterpreter {
  run(program: unknown): { readonly value: string }
  evaluate(node: JinjaNode | undefined, environment: unknown): JinjaValue
}

const LibraryInterpreter: new (environment: unknown) => JinjaInterpreter = Interpreter

/** A node that stands for its value. */
const EVALUATED = 'Evaluated'
/** Jinja takes none for a list without items here, and what is not there for one in more places. */
const FILTERS_OF_SEQUENCES: ReadonlySet<string> = new Set(['selectattr', 'rejectattr', 'map'])
const FILTERS_OF_LISTS: ReadonlySet<string> = new Set(['list', 'length', 'join', 'reverse', 'sort', 'unique'])
const FILTERS_OF_TEXTS: ReadonlySet<string> = new Set([
  'capitalize',
  'indent',
  'lower',
  'replace',
  'string',
  'title',
  'trim',
  'upper',
])

export class TemplateInterpreter extends LibraryInterpreter {
  readonly #spend: (steps: number) => void

  /** @param spend is told of each part that is evaluated, and may throw. */
  constructor(environment: Environment, spend: (steps: number) => void) {
    super(environment)
    this.#spend = spend
  }

  override evaluate(node: JinjaNode | undefined, environment: unknown): JinjaValue {
    if (node?.type === EVALUATED) return node['value'] as JinjaValue
    this.#spend(1)
    if (node === undefined) return super.evaluate(node, environment)
    switch (node.type) {
      case 'TupleLiteral':
        return super.evaluate({ ...node, type: 'ArrayLiteral' }, environment)
      case 'ObjectLiteral':
        return this.#evaluateDictionary(node, environment)
      case 'MemberExpression':
        return this.#evaluateMember(node, environment)
      case 'FilterExpression':
        return this.#evaluateFilter(node, environment)
      case 'TestExpression':
        return this.#evaluateTest(node, environment)
      case 'For':
        return this.#evaluateLoop(node, environment)
      default:
        return super.evaluate(node, environment)
    }
  }

  /** The library knows texts as keys only; whole numbers are such texts, and are whole numbers again where keys are listed. */
  #evaluateDictionary(node: JinjaNode, environment: unknown): JinjaValue {
    const entries = Array.from(node['value'] as Map<JinjaNode, JinjaNode>)
    const hasNumbers = entries.length > 0 && entries.every(([{ type }]) => type === 'IntegerLiteral')
    if (!hasNumbers) return super.evaluate(node, environment)
    const named = entries.map(([key, value]) => [
      { type: 'StringLiteral', value: String(key['value']) },
      value,
    ])
    const made = super.evaluate({ ...node, value: new Map(named as never) }, environment) as JinjaDictionary
    const list = (items: readonly JinjaValue[]) => this.#list(items)
    const pairs = () => Array.from(made.value as Map<string, JinjaValue>)
    const number = (key: string) => toValue(Number(key))
    const sorted = () => pairs().toSorted(([a], [b]) => Number(a) - Number(b))
    made.keys = () => list(pairs().map(([key]) => number(key)))
    made.items = () => list(pairs().map(([key, value]) => list([number(key), value])))
    made.builtins.set(
      'dictsort',
      toFunction(() => list(sorted().map(([key, value]) => list([number(key), value])))),
    )
    return made
  }

  #evaluateMember(node: JinjaNode, environment: unknown): JinjaValue {
    const object = this.evaluate(node['object'] as JinjaNode, environment)
    const property = node['property'] as JinjaNode
    const isSlice = property.type === 'SliceExpression'
    if (node['computed'] !== true || isSlice) {
      if (object.type === 'StringValue' && property['value'] === 'format') return toFormat(object)
      return super.evaluate({ ...node, object: evaluated(object) }, environment)
    }
    const key = this.evaluate(property, environment)
    if (object.type === 'ObjectValue' && key.type === 'UndefinedValue') return key
    const isNumbered = object.type === 'ObjectValue' && key.type === 'IntegerValue'
    return super.evaluate(
      {
        ...node,
        object: evaluated(object),
        property: evaluated(isNumbered ? toValue(String(key.value)) : key),
      },
      environment,
    )
  }

  #evaluateFilter(node: JinjaNode, environment: unknown): JinjaValue {
    const filter = node['filter'] as JinjaNode
    const called = filter.type === 'CallExpression' ? (filter['callee'] as JinjaNode) : filter
    const name = String(called['value'])
    const operand = this.evaluate(node['operand'] as JinjaNode, environment)
    const items = operand.type === 'ArrayValue' ? (operand.value as readonly JinjaValue[]) : null
    if (items !== null && (name === 'min' || name === 'max')) return extreme(items, name)
    if (name === 'items' && operand.type === 'ObjectValue') return (operand as JinjaDictionary).items()
    if (name === 'items' && operand.type === 'UndefinedValue') return this.#list([])
    if (name === 'string' && (items !== null || operand.type === 'ObjectValue'))
      return toValue(pythonText(operand))
    return super.evaluate({ ...node, operand: evaluated(this.#whatIsThere(operand, name)) }, environment)
  }

  /** Jinja goes over the keys of a dictionary too, and over nothing where there is none. */
  #evaluateTest(node: JinjaNode, environment: unknown): JinjaValue {
    const operand = this.evaluate(node['operand'] as JinjaNode, environment)
    const isIterable = operand.type === 'ObjectValue' || operand.type === 'UndefinedValue'
    const { value: test } = node['test'] as JinjaNode
    if (test === 'iterable' && isIterable) return toValue(node['negate'] !== true)
    return super.evaluate({ ...node, operand: evaluated(operand) }, environment)
  }

  #evaluateLoop(node: JinjaNode, environment: unknown): JinjaValue {
    const over = node['iterable'] as JinjaNode
    // One with a condition is evaluated where its variable is known.
    if (over.type === 'SelectExpression') return super.evaluate(node, environment)
    const iterable = evaluated(this.#items(this.evaluate(over, environment)))
    return super.evaluate({ ...node, iterable }, environment)
  }

  #items(value: JinjaValue): JinjaValue {
    if (value.type === 'UndefinedValue') return this.#list([])
    if (value.type !== 'StringValue') return value
    const text = String(value.value)
    this.#spend(text.length)
    return this.#list(Array.from(text, toValue))
  }

  #whatIsThere(operand: JinjaValue, filter: string): JinjaValue {
    const isUndefined = operand.type === 'UndefinedValue'
    if (!isUndefined && operand.type !== 'NullValue') return operand
    if (FILTERS_OF_SEQUENCES.has(filter)) return this.#list([])
    if (FILTERS_OF_TEXTS.has(filter)) return toValue(isUndefined ? '' : 'None')
    return isUndefined && FILTERS_OF_LISTS.has(filter) ? this.#list([]) : operand
  }

  #list(items: readonly JinjaValue[]): JinjaValue {
    return super.evaluate({ type: 'ArrayLiteral', value: items.map(evaluated) }, null)
  }
}

function evaluated(value: JinjaValue): JinjaNode {
  return { type: EVALUATED, value }
}

function toValue(value: unknown): JinjaValue {
  return new Environment().set('value', value) as JinjaValue
}

/** One that gives values of the library's own. */
function toFunction(call: () => JinjaValue): JinjaValue {
  return Object.assign(
    toValue(() => null),
    { value: call },
  )
}

/** Python's `'{}'.format(value)`, with empty or numbered braces. */
function toFormat({ value: text }: JinjaValue): JinjaValue {
  return toValue((...given: readonly (string | number | boolean | null | undefined)[]) => {
    let next = 0
    return String(text).replaceAll(/\{\{|\}\}|\{(\d*)\}/g, (braces, place: string | undefined) => {
      if (place === undefined) return braces.slice(1)
      return String(given[place === '' ? next++ : Number(place)] ?? '')
    })
  })
}

function extreme(items: readonly JinjaValue[], name: 'min' | 'max'): JinjaValue {
  const isBefore = (a: JinjaValue, b: JinjaValue) =>
    (a.value as number | string) < (b.value as number | string)
  const [first, ...rest] = items
  if (first === undefined) return toValue(undefined)
  return rest.reduce(
    (best, item) => ((name === 'min' ? isBefore(item, best) : isBefore(best, item)) ? item : best),
    first,
  )
}

/** As Python's `str` writes dictionaries and lists, and what is in them. */
function pythonText(value: JinjaValue): string {
  switch (value.type) {
    case 'ObjectValue': {
      const pairs = Array.from(value.value as Map<string, JinjaValue>)
      return `{${pairs.map(([key, item]) => `${pythonString(key)}: ${pythonText(item)}`).join(', ')}}`
    }
    case 'ArrayValue':
      return `[${(value.value as readonly JinjaValue[]).map(pythonText).join(', ')}]`
    case 'StringValue':
      return pythonString(String(value.value))
    case 'BooleanValue':
      return value.value === true ? 'True' : 'False'
    case 'NullValue':
      return 'None'
    default:
      return value.toString()
  }
}

function pythonString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' }
  const escaped = text.replaceAll(/[\n\r\t\\]/g, (character) => escapes[character] ?? character)
  return quote + (quote === "'" ? escaped.replaceAll("'", String.raw`\'`) : escaped) + quote
}
