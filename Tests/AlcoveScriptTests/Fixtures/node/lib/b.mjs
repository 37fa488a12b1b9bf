export * from './a.mjs'; export * as all from './a.mjs'; export { default } from './a.mjs'; export { x as ex } from './a.mjs';

