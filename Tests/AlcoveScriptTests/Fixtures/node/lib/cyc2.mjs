import {a} from './cyc1.mjs'; export function b(){return 'b'+a()}
