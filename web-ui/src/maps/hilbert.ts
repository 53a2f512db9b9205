/** The Hilbert curve: neighbouring addresses are neighbours on the map, and each prefix is a square. Pure. */

/** Place of a cell on a square of `side` by `side` cells; `side` is a power of two. */
export function hilbertCell(index: number, side: number): { x: number; y: number } {
  let x = 0;
  let y = 0;
  let rest = index;
  for (let step = 1; step < side; step *= 2) {
    const right = 1 & (rest >> 1);
    const up = 1 & (rest ^ right);
    // Each quarter is a smaller curve; two of the four are turned over.
    if (up === 0) {
      if (right === 1) {
        x = step - 1 - x;
        y = step - 1 - y;
      }
      [x, y] = [y, x];
    }
    x += step * right;
    y += step * up;
    rest >>= 2;
  }
  return { x, y };
}

/** Path of the squares of cells from `first` on, one unit each. */
export function cellPath(first: number, cells: number, side: number): string {
  let path = '';
  for (let index = first; index < first + cells; index += 1) {
    const { x, y } = hilbertCell(index, side);
    path += `M${x} ${y}h1v1h-1z`;
  }
  return path;
}
