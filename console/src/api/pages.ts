/** Listings of which an answer holds a part: what is behind it is asked for with the cursor of the answer. */

interface RowPage {
  /** Null or absent on the last page. */
  readonly next_cursor?: string | null
}

/** @param ask for the page of a cursor; null is the first */
export async function readPages<Page extends RowPage>(
  ask: (cursor: string | null) => Promise<Page>,
): Promise<readonly Page[]> {
  const pages: Page[] = []
  let cursor: string | null = null
  do {
    const page: Page = await ask(cursor)
    pages.push(page)
    cursor = page.next_cursor ?? null
  } while (cursor !== null)
  return pages
}
