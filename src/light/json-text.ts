/** JSON that has been written already, so that it can be sent more than once. An endpoint may return one; an application cannot make it. */
export class JsonText {
  readonly text: string
  readonly byteLength: number

  /** @throws TypeError for a value that JSON cannot hold. */
  constructor(value: unknown) {
    this.text = JSON.stringify(value) ?? 'null'
    this.byteLength = Buffer.byteLength(this.text)
  }
}
