/** A secret that no log line, no JSON and no inspection of an object shows. Made where options are read, revealed where it is sent. */
import { inspect } from 'node:util'

const HIDDEN = '[secret]'

export class SecretText {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }

  toString(): string {
    return HIDDEN
  }

  toJSON(): string {
    return HIDDEN
  }

  [inspect.custom](): string {
    return HIDDEN
  }
}
