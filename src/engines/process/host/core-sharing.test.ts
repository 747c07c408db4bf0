import { expect, it } from 'vitest'
import { CoreSharing } from './core-sharing.ts'

it('says to every engine that has work how many have, each time that changes', () => {
  const cores = new CoreSharing()
  const heard: string[] = []
  const engine = (name: string) => (busyEngines: number) => void heard.push(`${name} ${busyEngines}`)
  const [one, other] = [engine('one'), engine('other')]
  cores.enter(one)
  cores.enter(one)
  cores.enter(other)
  cores.leave(one)
  cores.leave(one)
  cores.leave(other)
  expect(heard).toEqual(['one 1', 'one 2', 'other 2', 'other 1'])
})
