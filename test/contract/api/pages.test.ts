/** Listings in pages: `limit` and `cursor`, on all three of them. */
import { describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'
import { shared } from '../../support/shared.ts'

interface Page {
  readonly ids: readonly string[]
  readonly count: number | undefined
  readonly nextCursor: string | null | undefined
}

interface Listing {
  readonly world: AccountsApp
  readonly read: (query?: string) => Promise<Page>
  /** Adds a row and gives its id. */
  readonly add: () => Promise<string>
  readonly status: (query: string) => Promise<number>
}

interface Body {
  readonly keys?: readonly { readonly id: string }[]
  readonly users?: readonly { readonly user_id: string }[]
  readonly count?: number
  readonly next_cursor?: string | null
}

const toPage = (body: Body): Page => ({
  ids: body.keys?.map(({ id }) => id) ?? body.users?.map(({ user_id: id }) => id) ?? [],
  count: body.count,
  nextCursor: body.next_cursor,
})

const LISTINGS: Record<string, (world: AccountsApp) => Omit<Listing, 'world'>> = {
  '/v1/keys': ({ call }) => ({
    read: async (query = '') => toPage((await call(`/v1/keys${query}`)).json()),
    add: async () => (await call({ method: 'POST', url: '/v1/keys' })).json<{ id: string }>().id,
    status: async (query) => (await call(`/v1/keys${query}`)).statusCode,
  }),
  '/v1/admin/keys': ({ admin }) => ({
    read: async (query = '') => toPage((await admin('GET', `/v1/admin/keys${query}`)).json()),
    add: async () => (await admin('POST', '/v1/admin/keys')).json<{ id: string }>().id,
    status: async (query) => (await admin('GET', `/v1/admin/keys${query}`)).statusCode,
  }),
  '/v1/admin/users': ({ admin }) => {
    let users = 0
    return {
      read: async (query = '') => toPage((await admin('GET', `/v1/admin/users${query}`)).json()),
      add: async () => {
        const payload = { email: `user-${++users}@example.org`, password: PASSWORD }
        return (await admin('POST', '/v1/admin/users', payload)).json<{ user_id: string }>().user_id
      },
      status: async (query) => (await admin('GET', `/v1/admin/users${query}`)).statusCode,
    }
  },
}

/** Every next page, from the first on; `between` runs after each. */
async function walk({ read }: Listing, limit: number, between = async () => {}): Promise<Page[]> {
  const pages = [await read(`?limit=${limit}`)]
  for (let cursor = pages[0]?.nextCursor; typeof cursor === 'string'; cursor = pages.at(-1)?.nextCursor) {
    await between()
    pages.push(await read(`?limit=${limit}&cursor=${cursor}`))
  }
  return pages
}

describe.each(Object.entries(LISTINGS))('GET %s', (path, listingOf) => {
  /** With rows of which some were made in the same moment. */
  async function createListing(rows: number): Promise<Listing & { ids: string[] }> {
    const world = await createAccountsApp()
    const listing = { world, ...listingOf(world) }
    const ids = []
    for (let row = 0; row < rows; row++) {
      ids.push(await listing.add())
      if (row % 3 === 0) world.clock.advance(1)
    }
    return { ...listing, ids }
  }

  /** For tests that only read. */
  const sevenRows = shared(() => createListing(7))

  it('without a limit lists all, and gives no cursor', async () => {
    const { read, ids } = sevenRows()

    const page = await read()

    expect(page.ids.toSorted()).toEqual(ids.toSorted())
    expect(page.nextCursor).toBeUndefined()
  })

  it('with nothing to list gives an empty page', async () => {
    const { read } = await createListing(0)

    expect(await read('?limit=5')).toMatchObject({ ids: [], nextCursor: null })
  })

  it.each([1, 2, 3, 6, 7, 8, 1000])('gives every row once, in pages of %i', async (limit) => {
    const listing = sevenRows()

    const pages = await walk(listing, limit)

    expect(pages.flatMap(({ ids }) => ids)).toEqual((await listing.read()).ids)
    expect(pages).toHaveLength(Math.ceil(7 / limit))
    expect(pages.at(-1)?.nextCursor).toBeNull()
  })

  it('counts all rows, whatever the page, where the interface has a count', async () => {
    const pages = await walk(sevenRows(), 3)

    const count = path.startsWith('/v1/admin') ? 7 : undefined
    expect(pages.map((page) => page.count)).toEqual([count, count, count])
  })

  it('neither repeats nor hides a row while others are added', async () => {
    const listing = await createListing(6)
    const added: string[] = []

    const pages = await walk(listing, 2, async () => {
      listing.world.clock.advance(1)
      if (added.length < 3) added.push(await listing.add())
    })

    const seen = pages.flatMap(({ ids }) => ids)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.toSorted()).toEqual([...listing.ids, ...added].toSorted())
  })

  it('with a cursor and no limit gives all that follows', async () => {
    const { read } = sevenRows()
    const { nextCursor } = await read('?limit=2')

    const rest = await read(`?cursor=${nextCursor}`)

    expect(rest.ids).toEqual((await read()).ids.slice(2))
  })

  it.each([
    'x',
    '',
    'W10',
    Buffer.from('[1700000000]').toString('base64url'),
    Buffer.from('["1700000000","id"]').toString('base64url'),
    Buffer.from('{"a":1}').toString('base64url'),
    Buffer.from('[1e999,"id"]').toString('base64url'),
    Buffer.from('[0,"id",1]').toString('base64url'),
    "' OR 1=1 --",
    'a'.repeat(5000),
  ])('refuses the cursor %j, which no page has given', async (cursor) => {
    expect(await sevenRows().status(`?limit=1&cursor=${encodeURIComponent(cursor)}`)).toBe(400)
  })

  it('refuses two cursors, and a page that is too long or empty', async () => {
    const { status, read } = sevenRows()
    const { nextCursor } = await read('?limit=1')

    expect(await status(`?cursor=${nextCursor}&cursor=${nextCursor}`)).toBe(400)
    expect(await status('?limit=0')).toBe(400)
    expect(await status('?limit=1001')).toBe(400)
  })
})

describe('a cursor', () => {
  it('of a row that is gone meanwhile still begins behind its place', async () => {
    const world = await createAccountsApp()
    const ids = []
    for (let index = 0; index < 3; index++) {
      ids.push((await world.register()).userId)
      world.clock.advance(1)
    }
    const { next_cursor: cursor } = (await world.admin('GET', '/v1/admin/users?limit=1')).json()
    await world.admin('DELETE', `/v1/admin/users/${ids[0]}`)

    const rest = await world.admin('GET', `/v1/admin/users?cursor=${cursor}`)

    expect(toPage(rest.json())).toMatchObject({ ids: ids.slice(1), count: 2 })
  })

  it('shows no key of another account', async () => {
    const world = await createAccountsApp()
    const { key: ann } = await world.register()
    const { key: bob } = await world.register()
    await world.as(ann, 'POST', '/v1/keys', {})
    const { next_cursor: cursor } = (await world.as(ann, 'GET', '/v1/keys?limit=1')).json()

    const { keys } = (await world.as(bob, 'GET', `/v1/keys?cursor=${cursor}`)).json()

    const idsOf = (listed: readonly { id: string }[]) => listed.map(({ id }) => id)
    const own = idsOf((await world.as(bob, 'GET', '/v1/keys')).json().keys)
    for (const id of idsOf(keys)) expect(own).toContain(id)
  })
})
