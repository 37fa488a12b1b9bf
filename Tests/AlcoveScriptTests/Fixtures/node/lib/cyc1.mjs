import {b} from './cyc2.mjs'; export function a(){return 'a'} export const viaB=()=>b();
