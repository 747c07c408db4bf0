/** What is wrong with a schema or a pattern, and where: a JSON pointer into what the caller sent. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
  readonly path: string
  readonly problem: string
  /** The body's name for the schema, where it is another than that of the constraint. */
  readonly field: string | null

  /** @param problem follows the path */
  constructor(path: string, problem: string, field: string | null = null) {
    super(path === '' ? problem : `at ${path}: ${problem}`)
    this.path = path
    this.problem = problem
    this.field = field
  }

  /** The same error in a document that holds this one at `path`. */
  inside(path: string): SchemaError {
    return new SchemaError(`${path}${this.path}`, this.problem, this.field)
  }

  /** The same error in a schema of its own, which the body calls by this name; null for the name of the constraint. */
  of(field: string | null): SchemaError {
    return new SchemaError(this.path, this.problem, field)
  }
}

/** No value is valid: what may be left out instead, as one of several options, is. */
export class NoValueError extends SchemaError {}

/** It stands for itself: as one of several options it adds nothing, anywhere else it means nothing. */
export class SelfReferenceError extends SchemaError {}
