export const x = 1, y = [2, 3];
export let counter = 0; export function inc() { counter++; }
export default class Foo { m() { return 'm' } }
export { z as zed, w as 'string name' }; const z = 26; let w = 'w';
export const { p, q: [r, ...s], ...t } = { p: 1, q: [2, 3, 4], u: 5, v: 6 };
export async function af() { return 'af' } export function* gen() { yield 1 }
// import x from 'no' ; export y
const str = "import a from 'b'", tpl = `export ${ `nested ${1 + 1}` } default`, re = /export\/[/'"]/g;
export { str, tpl, re };
export const longer =
  1 +
  2
export const after = { a: 1,
  b: 2 }
export var fn = function () { return 1 }
, fn2 = () => 2;
