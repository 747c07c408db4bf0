/** Where a `$ref` leads inside one schema document (RFC 6901). */
import { SchemaError } from './schema-error.ts'

/** @throws SchemaError for a reference to another document or to nothing */
export function resolvePointer(root: unknown, reference: unknown, path: string): unknown {
  if (typeof reference !== 'string' || (reference !== '#' && !reference.startsWith('#/'))) {
    throw new SchemaError(path, `${JSON.stringify(reference)} must be '#', or begin with '#/'`)
  }
  let current = root
  for (const part of reference.split('/').slice(1)) {
    const name = decode(part)
    const holder = current as Readonly<Record<string, unknown>> | null
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) {
      throw new SchemaError(path, `${JSON.stringify(reference)} leads to nothing`)
    }
    current = holder[name]
  }
  return current
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}
