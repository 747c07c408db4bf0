import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ConnectionDealer } from './connection-dealer.ts'

function createTaker() {
  const handed: { id: number; connection: Socket }[] = []
  return { handed, hand: (id: number, connection: Socket) => void handed.push({ id, connection }) }
}

const connections = (count: number) => Array.from({ length: count }, () => new Socket())
const of = ({ handed }: ReturnType<typeof createTaker>) => handed.map(({ connection }) => connection)

describe('the dealer of connections', () => {
  it('deals them out in turn', () => {
    const dealer = new ConnectionDealer()
    const [a, b] = [createTaker(), createTaker()]
    dealer.add(a)
    dealer.add(b)
    const sent = connections(5)
    for (const connection of sent) dealer.deal(connection)
    expect(of(a)).toEqual([sent[0], sent[2], sent[4]])
    expect(of(b)).toEqual([sent[1], sent[3]])
  })

  it('closes its copy of one that has been taken', () => {
    const dealer = new ConnectionDealer()
    const taker = createTaker()
    dealer.add(taker)
    const [first, second] = connections(2) as [Socket, Socket]
    dealer.deal(first)
    dealer.deal(second)
    dealer.taken(taker.handed[0]?.id ?? -1)
    expect([first.destroyed, second.destroyed]).toEqual([true, false])
  })

  it('gives those on their way to one that ends to another, and not those that it had taken', () => {
    const dealer = new ConnectionDealer()
    const [a, b] = [createTaker(), createTaker()]
    dealer.add(a)
    const [taken, onItsWay] = connections(2) as [Socket, Socket]
    dealer.deal(taken)
    dealer.deal(onItsWay)
    dealer.taken(a.handed[0]?.id ?? -1)
    dealer.add(b)
    dealer.end(a)
    expect(of(b)).toEqual([onItsWay])
    expect(onItsWay.destroyed).toBe(false)
    dealer.end(a)
    expect(of(b)).toHaveLength(1)
  })

  it('gives one that leaves no more, and waits for what it was given', () => {
    const dealer = new ConnectionDealer()
    const [a, b] = [createTaker(), createTaker()]
    dealer.add(a)
    const [first, second] = connections(2) as [Socket, Socket]
    dealer.deal(first)
    dealer.add(b)
    dealer.remove(a)
    dealer.deal(second)
    expect([of(a), of(b)]).toEqual([[first], [second]])
    dealer.taken(a.handed[0]?.id ?? -1)
    expect(first.destroyed).toBe(true)
  })

  it('keeps connections while no worker serves, the newest where there are too many', () => {
    const dealer = new ConnectionDealer()
    const sent = connections(513)
    for (const connection of sent) dealer.deal(connection)
    expect(sent.map(({ destroyed }) => destroyed).lastIndexOf(true)).toBe(1)
    const taker = createTaker()
    dealer.add(taker)
    expect(of(taker)).toEqual(sent.slice(2))
  })

  it('ends what no worker has when it closes', () => {
    const dealer = new ConnectionDealer()
    const [waiting, handed] = connections(2) as [Socket, Socket]
    dealer.add(createTaker())
    dealer.deal(handed)
    dealer.close()
    const empty = new ConnectionDealer()
    empty.deal(waiting)
    empty.close()
    expect([waiting.destroyed, handed.destroyed]).toEqual([true, true])
  })
})
