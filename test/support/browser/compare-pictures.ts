/** How different two pictures look, told by the browser, which can read them. */
import type { Page } from 'playwright-core'

/** Fine differences, as in how one version of a browser smooths letters, are those of less than this many pixels. */
const CELL = 4
/** Of 255. */
const SEEN = 24

/** @returns the share of cells that differ; 1 where the sizes do */
export function differenceOf(page: Page, pictures: readonly [Buffer, Buffer]): Promise<number> {
  const urls = pictures.map((picture) => `data:image/png;base64,${picture.toString('base64')}`)
  return page.evaluate<number>(`(async () => {
    const [one, other] = await Promise.all(${JSON.stringify(urls)}.map(async (url) => {
      const image = new Image()
      image.src = url
      await image.decode()
      const [width, height] = [Math.ceil(image.width / ${CELL}), Math.ceil(image.height / ${CELL})]
      const context = new OffscreenCanvas(width, height).getContext('2d')
      context.imageSmoothingQuality = 'high'
      context.drawImage(image, 0, 0, width, height)
      return { size: width + 'x' + height, data: context.getImageData(0, 0, width, height).data }
    }))
    if (one.size !== other.size) return 1
    let count = 0
    for (let at = 0; at < one.data.length; at += 4)
      if ([0, 1, 2].some((channel) => Math.abs(one.data[at + channel] - other.data[at + channel]) > ${SEEN})) count++
    return count / (one.data.length / 4)
  })()`)
}
