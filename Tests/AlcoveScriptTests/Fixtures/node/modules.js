const c=require('./lib/c.cjs'); console.log(c, require('./lib/c.cjs')===c, require.resolve('./lib/d.json').endsWith('d.json'), require('./lib/d'));
import('./lib/a.mjs').then(m=>console.log(m.x,Object.keys(m).length)); (async()=>{const {default:fs}=await import('fs'); console.log(typeof fs.readFileSync)})();
console.log(Object.keys(require.cache).length, module.children.length, require.main===module, module.filename===__filename, this===module.exports);
try{require('./bad')}catch(e){console.log(e.code)}
