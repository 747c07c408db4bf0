import { expect, it } from 'vitest'
import { inheritedFlags } from './v8-flags.ts'

it.each([
  [['--max-old-space-size=512', '--cpu-prof', '--cpu-prof-dir', 'profiles'], undefined],
  [['--import', './instrument.mjs', '--trace-warnings'], ['--trace-warnings']],
  [['-e', 'await startServer()', '--input-type=module', '--no-warnings'], ['--no-warnings']],
  [['-r', 'dotenv/config', '--inspect=9229', '--test', '--watch', '--env-file=.env'], []],
])('of %j a worker takes %j', (given, kept = given) => {
  expect(inheritedFlags(given)).toEqual(kept)
})
