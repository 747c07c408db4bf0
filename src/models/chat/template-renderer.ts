/**
 * Renders the Jinja template of a model as transformers does: its globals, Python's names of days and months whatever
 * the language of this machine, and an end to loops. A template comes with a checkpoint, from its author, and runs
 * in the process that serves, so how long it may compute is bounded.
 */
import { Environment, Template } from '@huggingface/jinja'
import { strftime } from './strftime.ts'
import { TemplateInterpreter } from './template-interpreter.ts'

/** As Jinja's sandbox has it. */
const MAX_RANGE = 100_000
/** Parts of a template evaluated and numbers counted, about a second of them; published ones take up to 60 a message. */
const MAX_STEPS = 100_000
const MAX_STEPS_PER_MESSAGE = 200
/** What a request may bring, several times over. */
const MAX_CHARACTERS = 64 * 2 ** 20

export interface TemplateVariables {
  readonly messages: readonly object[]
  readonly tools?: readonly object[] | null
  readonly add_generation_prompt: boolean
  readonly bos_token: string
  readonly eos_token: string
}

export class TemplateRenderer {
  readonly #program: Template['parsed']

  /** @throws Error when the template cannot be parsed. */
  constructor(template: string) {
    this.#program = new Template(template).parsed
  }

  /**
   * @param further variables that the caller names; none of the template's own can be among them
   * @throws TemplateRefusal; Error when it computes for too long.
   */
  render(variables: TemplateVariables, further: Readonly<Record<string, unknown>> = {}): string {
    const parts = variables.messages.length + (variables.tools?.length ?? 0)
    const budget = new StepBudget(MAX_STEPS + parts * MAX_STEPS_PER_MESSAGE)
    const environment = new Environment()
    const range = (...bounds: RangeBounds) => toRange(budget, bounds)
    const all = { ...OPTIONAL, ...further, ...GLOBALS, range, ...variables }
    for (const [name, value] of Object.entries(all)) environment.set(name, value)
    const text = new TemplateInterpreter(environment, (steps) => budget.spend(steps)).run(this.#program).value
    if (text.length > MAX_CHARACTERS) throw new Error(`It makes more than ${MAX_CHARACTERS} characters.`)
    return text
  }
}

/** What a template says against the messages. */
export class TemplateRefusal extends Error {
  override readonly name = 'TemplateRefusal'
}

class StepBudget {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new Error('It computes for too long.')
  }
}

const OPTIONAL = { tools: null, documents: null } as const

const GLOBALS: Readonly<Record<string, unknown>> = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  raise_exception: (message: string): never => {
    throw new TemplateRefusal(message)
  },
  strftime_now: (format: string): string => strftime(new Date(), format),
}

/** Python's: `range(stop)` or `range(start, stop, step)`. */
type RangeBounds = [first: number, second?: number, step?: number]

function toRange(budget: StepBudget, [first, second, step = 1]: RangeBounds): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second]
  const length = Math.max(0, Math.ceil((stop - start) / step))
  if (!(length <= MAX_RANGE)) throw new Error(`A range has more than ${MAX_RANGE} numbers.`)
  budget.spend(length)
  return Array.from({ length }, (_, index) => start + index * step)
}
