#!/usr/bin/env node
import Foo, { x, y, counter, inc, zed as Z, p, r, s, t, af, gen, str, tpl, re, longer, after, fn, fn2, 'string name' as sn } from './lib/a.mjs';
import * as ns from './lib/b.mjs'; import fs, { readFileSync } from 'fs'; import path from 'node:path';
import c from './lib/c.cjs'; import { cjs } from './lib/c.cjs'; import './lib/a.mjs';
console.log(new Foo().m(), x, y, Z, p, r, s, t, str, tpl, re, longer, after, fn(), fn2(), sn, await af(), [...gen()], counter); inc();
console.log(ns.ex, ns.all.x, ns.default === Foo, Object.keys(ns).sort(), typeof readFileSync, path.basename('/a/b'), c.cjs, cjs, fs.existsSync('x'));
console.log(import.meta.url.startsWith('file:///'), path.basename(import.meta.filename ?? 'x').length > 0, typeof require, this, typeof __filename);
const m = await import('./lib/a.mjs'); console.log(m.x, m.default.name, Object.prototype.toString.call(m));
try { await import('./nope.mjs') } catch (e) { console.log(e.code !== undefined) }
const { createRequire } = await import('module'); const require2 = createRequire(import.meta.url); console.log(require2('./lib/d.json'));
for (const i of [1, 2]) { await null; console.log(i) }
export default 5; export const own = 1;
import { a } from './lib/cyc1.mjs'; console.log(a());
const o = { import: 1, export: 2, default: 3 }; console.log(o.import, o.export, o.default);
