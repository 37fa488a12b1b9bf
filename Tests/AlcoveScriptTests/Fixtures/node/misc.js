const assert=require('assert');
for(const f of [()=>assert.equal(1,2),()=>assert.strictEqual(1,2),()=>assert.strictEqual('a','a'),()=>assert.deepStrictEqual({a:1},{a:1}),()=>assert.throws(()=>{throw new Error('x')},/x/),()=>assert.throws(()=>{}),()=>assert.ok(true),()=>assert.notStrictEqual(1,1),()=>assert.fail('m'),()=>assert.strictEqual(1,2,'msg'),()=>assert.match('abc',/x/),()=>assert.deepEqual([1,'2'],[1,2]),()=>assert.rejects]) try{f();console.log('ok')}catch(e){console.log(e.name,e.code,e.message.split('\n')[0],e.generatedMessage,e.operator)}
const util=require('util');  console.log(util.inspect(util.types.isRegExp(/x/)),util.inherits.name);
console.log(util.parseArgs({args:['-f','--bar','b','pos'],options:{f:{type:'boolean',short:'f'},bar:{type:'string'}},allowPositionals:true}).values.bar);
console.log(require('querystring').parse('a=1&b=2&a=3%20x'),require('querystring').stringify({a:[1,2],b:'x y'}));
console.log(structuredClone({a:new Date(0),m:new Map([[1,{b:2}]]),s:new Set([1])}),typeof performance.now(),typeof require('crypto').randomUUID(),require('crypto').randomUUID().length);
console.log(require('crypto').createHash('sha256').update('abc').digest('hex'),require('crypto').createHmac('sha256','k').update('d').digest('base64'),require('crypto').randomBytes(4).length);
const ac=new AbortController(); ac.signal.addEventListener('abort',()=>console.log('aborted',ac.signal.reason.name)); ac.abort(); console.log(ac.signal.aborted);
console.log(require('os').EOL==='\n',typeof require('os').cpus().length,require('node:path')===require('path'),require.resolve('fs'));
try{require('nope-nope')}catch(e){console.log(e.code,e.message.split('\n')[0])}
try{null.x}catch(e){console.log(e.name,e instanceof TypeError)} try{undefinedVar}catch(e){console.log(e.name,e.constructor===ReferenceError)}
class E1 extends Error{constructor(m){super(m);this.name='E1'}} const e=new E1('q'); console.log(e instanceof E1,e instanceof Error,e.name,e.message,String(e),e.stack.split('\n')[0],Object.keys(e)); class E2 extends TypeError{} console.log(new E2('z').stack.split('\n')[0],String(new E2('z')),Object.prototype.toString.call(new E2('y')));
console.log(module.id,require.main===module,module.children.length,__filename.endsWith('.js'),typeof module.paths);
const {Readable,Transform,pipeline}=require('stream'); Readable.from(['a','b','c']).pipe(new Transform({objectMode:true,transform(c,e,cb){cb(null,c.toUpperCase())}})).on('data',d=>console.log(d)).on('end',()=>console.log('send'));
process.stdout.write('no newline'); process.stdout.write('\n'); console.log(process.argv.length,process.exitCode,typeof process.hrtime.bigint(),process.env.HOME!==undefined,process.uptime()>0,process.memoryUsage().rss>=0);
process.exitCode=3;
