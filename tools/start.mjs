// @ts-check
/**
 * `npm start`: makes the clone ready and becomes the server, with the bundled model where no other is named on the
 * command line, in the environment or in a configuration file.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { prepareOrTell, ROOT } from './prepare.mjs'

if (await prepareOrTell()) {
  // npm starts scripts in the project's folder; paths on the command line are meant from where it was typed.
  if (process.env.INIT_CWD !== undefined) process.chdir(process.env.INIT_CWD)
  const checkpoint = path.join(ROOT, 'models', 'demo')
  const defaults = existsSync(checkpoint) ? { checkpoint } : {}
  const program = await import(pathToFileURL(path.join(ROOT, 'dist', 'cli', 'main.js')).href)
  await program.main(process.argv.slice(2), { defaults })
}
