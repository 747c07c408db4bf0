/**
 * Arrays of request schemas. They end at the first item that is wrong, because an answer names only one; and where a schema is
 * run asynchronously, as `validateInSlices` does, items are checked in slices between which the event loop goes on.
 */
import { z } from 'zod'
import { ownTurn } from '../../../core/concurrency/turns.ts'
import { InvariantError } from '../../../core/errors.ts'

/** Items checked in one turn of the event loop: about a millisecond. */
export const ITEMS_PER_SLICE = 500

type Payload = z.core.ParsePayload
type Context = z.core.ParseContextInternal
type Definition = z.core.$ZodArrayDef

const LongArray = z.core.$constructor<z.ZodArray, Definition>('LongArray', (schema, definition) => {
  z.ZodArray.init(schema, definition)
  const { element } = definition
  const parseOther = schema._zod.parse.bind(schema._zod)
  schema._zod.parse = (payload: Payload, context: Context) => {
    const given: unknown = payload.value
    if (!Array.isArray(given)) return parseOther(payload, context)
    const items = new ItemParser(element, { given, payload, context })
    return context.async === true ? parseInSlices(items) : items.parse(given.length)
  }
})

async function parseInSlices(items: ItemParser): Promise<Payload> {
  while (!items.isOver) {
    items.parse(ITEMS_PER_SLICE)
    if (!items.isOver) await ownTurn()
  }
  return items.payload
}

class ItemParser {
  readonly payload: Payload
  readonly #element: z.core.$ZodType
  readonly #context: Context
  readonly #given: readonly unknown[]
  readonly #parsed: unknown[] = []
  isOver = false

  constructor(
    element: z.core.$ZodType,
    { given, payload, context }: { given: readonly unknown[]; payload: Payload; context: Context },
  ) {
    this.payload = payload
    this.#element = element
    // No schema of an item waits for anything.
    this.#context = { ...context, async: false }
    this.#given = given
    payload.value = this.#parsed
  }

  /** The next items, as many as that, or up to the first that is wrong. */
  parse(count: number): Payload {
    const end = Math.min(this.#given.length, this.#parsed.length + count)
    while (!this.isOver && this.#parsed.length < end) this.#parseNext()
    if (this.#parsed.length === this.#given.length) this.isOver = true
    return this.payload
  }

  #parseNext(): void {
    const index = this.#parsed.length
    const result = this.#element._zod.run({ value: this.#given[index], issues: [] }, this.#context)
    if (result instanceof Promise) throw new InvariantError('An item of an array was not checked at once.')
    if (result.issues.length > 0) {
      this.payload.issues.push(...z.core.util.prefixIssues(index, result.issues))
      this.isOver = true
    }
    this.#parsed.push(result.value)
  }
}

/** As `z.array`, with checks to be added to it. */
export function longArray<Item extends z.ZodType>(
  item: Item,
  { error }: { readonly error?: (issue: { readonly input?: unknown }) => string } = {},
): z.ZodArray<Item> {
  const definition = { type: 'array', element: item, ...(error && { error }) } as const
  return new LongArray(definition) as z.ZodArray<Item>
}
