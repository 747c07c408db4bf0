/** What is wrong with a schema or a pattern, and where: a JSON pointer into what the caller sent. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
  readonly path: string
  readonly problem: string

  /** @param problem follows the path */
  constructor(path: string, problem: string) {
    super(path === '' ? problem : `at ${path}: ${problem}`)
    this.path = path
    this.problem = problem
  }

  /** The same error in a document that holds this one at `path`. */
  inside(path: string): SchemaError {
    return new SchemaError(`${path}${this.path}`, this.problem)
  }
}
