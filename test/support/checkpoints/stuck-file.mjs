// @ts-check
/** Loaded into a server: looking at a file named `stuck.gguf` never ends, as on a network disk whose server is gone. */
import { promises } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { open, stat } = promises
/** @type {any} */
const looking = async (/** @type {string} */ path, /** @type {object} */ options) =>
  // It is a pipe, which is opened when somebody writes.
  path.endsWith('stuck.gguf') ? open(path) : stat(path, options)
promises.stat = looking
syncBuiltinESMExports()
