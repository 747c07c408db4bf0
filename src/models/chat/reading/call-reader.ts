/**
 * Reads the tool calls out of an answer's text, by the markers of the model's chat format. A call is given with its name as soon as that
 * is known, then its arguments as they come; what looked like a call and is none is given as the text that it is. White space
 * beside calls belongs to them.
 *
 *   text ──opener──▶ list ──{──▶ object ──}──▶ list ──closer──▶ text
 *                     └──name and {──▶ arguments ──}──▶ list
 *
 * Invariant: no text is given that could still become a marker.
 */
import { type AnswerPart, openMarkerLength, type PartReader } from './answer-part.ts'
import { type ArgumentReader, JsonArguments } from './argument-reader.ts'
import { CallObject } from './call-object.ts'

/** How a model writes calls: each a JSON object, or a name and its arguments, alone or as a list. */
export interface CallSyntax {
  /** What calls begin with. */
  readonly openers: readonly string[]
  /** What may follow them. */
  readonly closers: readonly string[]
  /** What may stand behind a call, before the next one or the closer. @default none */
  readonly separators?: readonly string[]
  /** @default `name[ARGS]{…}` */
  readonly named?: NamedCall
  /** What calls may begin with that have no opener but begin a line. @default none */
  readonly bare?: readonly string[]
}

/** A call that is a name and then its arguments. */
interface NamedCall {
  /** All in front of the arguments; its group is the name. */
  readonly whole: RegExp
  /** What may still become that. */
  readonly beginning: RegExp
  /** @param parameters the function's schema */
  readonly createArguments: (parameters: Readonly<Record<string, unknown>>) => ArgumentReader
}

interface CallReaderOptions {
  readonly syntax: CallSyntax
  /** Behind which a call must follow, where it is an opener. */
  readonly trigger: string
  /** The schemas of the functions that may be called, by their names. */
  readonly tools: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  /** Calls of an answer; what follows the last one is dropped. */
  readonly maxCalls: number
  /** Whether the prompt has the opener already. */
  readonly startsInCalls: boolean
  /** Whether a constraint lets nothing but calls come: the beginning of one that is cut is no text. @default false */
  readonly isAllCalls?: boolean
}

/** `name[ARGS]{` and `name[CALL_ID]id[ARGS]{`, as Mistral writes them. */
const NAMED_JSON: NamedCall = {
  whole: /^([\w.:/-]+)(?:\[CALL_ID\][^[{]*)?(?:\[ARGS\])?\s*(?=\{)/,
  beginning: /^[\w.:/-]+(?:\s*|\[[^{]*)$/,
  createArguments: () => new JsonArguments(),
}
const LONGEST_NAMED = 512

type State = 'text' | 'list' | 'object' | 'arguments' | 'over'

export class CallReader implements PartReader {
  readonly #options: CallReaderOptions
  /** What calls may begin with. */
  readonly #beginnings: readonly string[]
  #state: State
  /** Length of all that has come. */
  #received = 0
  /** What has not been read. */
  #buffer = ''
  /** What was read since the opener, to be given as text unless a call comes of it; null once one has come. */
  #raw: string | null = ''
  #object: CallObject | null = null
  #arguments: ArgumentReader | null = null
  #calls = 0
  /** Whether only white space has come so far. */
  #isAtStart = true
  /** Whether the last thing given was a call. */
  #isAfterCall = false
  #parts: AnswerPart[] = []

  constructor(options: CallReaderOptions) {
    const { openers, bare = [] } = options.syntax
    this.#options = options
    this.#beginnings = [...openers, ...bare]
    this.#state = options.startsInCalls ? 'list' : 'text'
  }

  push(text: string): readonly AnswerPart[] {
    this.#received += text.length
    this.#buffer += text
    while (this.#buffer !== '' && this.#advance());
    return this.#take()
  }

  end(isCut: boolean): readonly AnswerPart[] {
    const { isAllCalls = false } = this.#options
    // What stands behind a call in its list is a part of its closer.
    const isCall = isAllCalls || this.#isCutCall() || (isCut && this.#isTriggered())
    if (this.#state !== 'over' && this.#raw !== null && !isCall) this.#giveText(this.#raw + this.#buffer)
    this.#buffer = ''
    this.#state = 'over'
    return this.#take()
  }

  /** One transition; false where more text is needed. */
  #advance(): boolean {
    switch (this.#state) {
      case 'text':
        return this.#readText()
      case 'list':
        return this.#readList()
      case 'object':
        return this.#readObject()
      case 'arguments':
        return this.#readArguments()
      case 'over':
        this.#buffer = ''
        return false
    }
  }

  #readText(): boolean {
    const { openers } = this.#options.syntax
    const buffer = this.#buffer
    if (buffer.trimStart() === '') return false
    const opened = firstOf(buffer, openers)
    const bare = this.#findBare()
    const found = opened === null || (bare !== null && bare.index < opened.index) ? bare : opened
    if (found === null) return this.#releaseText()
    const before = buffer.slice(0, found.index)
    const kept = before.trimEnd()
    this.#giveText(kept)
    this.#buffer = buffer.slice(kept.length)
    return this.#enterList(found.index - kept.length + found.marker.length)
  }

  /** The white space in front of a call that begins a line. */
  #findBare(): Marker | null {
    const { bare } = this.#options.syntax
    if (bare === undefined) return null
    for (const { index, 0: marker } of this.#buffer.matchAll(LINE_STARTS)) {
      const content = this.#buffer.slice(index + marker.length)
      const beginsLine = this.#isAtStart || marker.includes('\n')
      if (beginsLine && bare.some((one) => content.startsWith(one))) return { index, marker }
    }
    return null
  }

  /** Gives all but what may become the beginning of a call, and white space in front of it. */
  #releaseText(): boolean {
    const buffer = this.#buffer
    const open = openMarkerLength(buffer, this.#beginnings)
    const ready = buffer.slice(0, buffer.length - open).trimEnd()
    this.#giveText(ready)
    this.#buffer = buffer.slice(ready.length)
    return false
  }

  /** @param length of what has been read of the list: its opener and the space in front of it */
  #enterList(length: number): boolean {
    this.#raw = this.#buffer.slice(0, length)
    this.#buffer = this.#buffer.slice(length)
    this.#isAtStart = false
    this.#state = 'list'
    return true
  }

  #readList(): boolean {
    const { closers, openers, separators = [] } = this.#options.syntax
    const content = this.#buffer.trimStart()
    if (content === '') return false
    if (this.#raw === null) {
      const separator = separators.find((one) => content.startsWith(one))
      if (separator !== undefined) {
        this.#consume(content.slice(separator.length))
        return true
      }
      const closer = closers.find((one) => content.startsWith(one))
      if (closer !== undefined) return this.#leaveList(content.slice(closer.length))
      if (openers.some((opener) => content.startsWith(opener))) return this.#leaveList(content)
      if (openMarkerLength(content, [...closers, ...openers, ...separators]) === content.length) return false
    }
    const first = content.charAt(0)
    // Behind a call it may be no second one, and is text then.
    if (first === '{' || first === '[') this.#raw ??= ''
    if (first === '{') {
      this.#consume(content)
      this.#object = new CallObject(this.#callEvents)
      this.#state = 'object'
      return true
    }
    if (LIST_MARK.test(first)) {
      this.#consume(content.slice(1))
      return true
    }
    return this.#raw === null ? this.#leaveList(content) : this.#readNamed(content)
  }

  #readNamed(content: string): boolean {
    const { syntax, tools } = this.#options
    const { whole, beginning, createArguments } = syntax.named ?? NAMED_JSON
    const found = whole.exec(content.slice(0, LONGEST_NAMED))
    if (found === null && content.length < LONGEST_NAMED && beginning.test(content)) return false
    const name = found?.[1] ?? ''
    const parameters = tools.get(name)
    if (found === null || parameters === undefined) return this.#leaveList(this.#buffer)
    this.#callEvents.onName(name)
    this.#buffer = content.slice(found[0].length)
    this.#arguments = createArguments(parameters)
    this.#state = 'arguments'
    return true
  }

  #readArguments(): boolean {
    const read = this.#arguments?.read(this.#buffer)
    if (read === undefined) return false
    this.#callEvents.onArguments(read.json)
    this.#buffer = this.#buffer.slice(read.length)
    if (read.isEnd) this.#endCall()
    return read.isEnd
  }

  #readObject(): boolean {
    const object = this.#object
    if (object === null) return false
    const end = object.read(this.#buffer, 0)
    this.#consume(this.#buffer.slice(end))
    if (object.state === 'open') return false
    if (object.isNamed) this.#endCall()
    else this.#leaveList(this.#buffer)
    return true
  }

  #endCall(): void {
    this.#state = this.#calls >= this.#options.maxCalls ? 'over' : 'list'
  }

  /** Back to text; a list in which no call was found is text itself. */
  #leaveList(rest: string): boolean {
    if (this.#raw !== null) {
      this.#giveText(this.#raw + this.#buffer.slice(0, this.#buffer.length - rest.length))
    }
    this.#raw = ''
    this.#buffer = rest
    this.#state = 'text'
    return true
  }

  #consume(rest: string): void {
    if (this.#raw !== null) this.#raw += this.#buffer.slice(0, this.#buffer.length - rest.length)
    this.#buffer = rest
  }

  readonly #callEvents = {
    isTool: (name: string): boolean => this.#options.tools.has(name),
    onName: (name: string): void => {
      this.#calls++
      this.#raw = null
      this.#isAfterCall = true
      this.#isAtStart = false
      this.#parts.push({ type: 'call', name })
    },
    onArguments: (text: string): void => {
      if (text !== '') this.#parts.push({ type: 'arguments', text })
    },
  }

  /** Whether what an answer that ends has behind a call is the beginning of the next one. */
  #isCutCall(): boolean {
    if (!this.#isAfterCall) return false
    const rest = this.#buffer.trimStart()
    return this.#state !== 'text' || openMarkerLength(rest, this.#options.syntax.openers) === rest.length
  }

  /** Whether what may still become a call stands behind what only calls begin with. */
  #isTriggered(): boolean {
    const { trigger, syntax } = this.#options
    return syntax.openers.includes(trigger) && this.#raw?.trimStart().startsWith(trigger) === true
  }

  /** Called while what is given stands at the beginning of what is not settled: `#raw`, then the buffer. */
  #giveText(given: string): void {
    const text = this.#isAfterCall ? given.trimStart() : given
    if (text === '') return
    const unsettled = (this.#raw ?? '').length + this.#buffer.length
    this.#parts.push({ type: 'text', text, at: this.#received - unsettled + given.length - text.length })
    this.#isAfterCall = false
    this.#isAtStart = false
  }

  #take(): readonly AnswerPart[] {
    const parts = this.#parts
    this.#parts = []
    return parts
  }
}

/** Between the calls of a list, and around it. */
const LIST_MARK = /[[\],;]/

const LINE_STARTS = /(?:^|\n)\s*/g

interface Marker {
  readonly index: number
  readonly marker: string
}

function firstOf(text: string, markers: readonly string[]): Marker | null {
  let first: Marker | null = null
  for (const marker of markers) {
    const index = text.indexOf(marker)
    if (index === -1) continue
    if (
      first === null ||
      index < first.index ||
      (index === first.index && marker.length > first.marker.length)
    )
      first = { index, marker }
  }
  return first
}
