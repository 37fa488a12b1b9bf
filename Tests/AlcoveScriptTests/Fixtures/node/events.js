const EventEmitter=require('events'); const e=new EventEmitter();
e.on('a',(...x)=>console.log('1',x)); e.once('a',()=>console.log('once')); e.prependListener('a',()=>console.log('first'));
console.log(e.emit('a',1,2),e.emit('a'),e.emit('none'),e.listenerCount('a'),e.eventNames(),e.listeners('a').length);
try{e.emit('error',new Error('boom'))}catch(x){console.log(x.message)} try{e.emit('error','str')}catch(x){console.log(x.message,x.code)}
e.on('newListener',(t)=>console.log('new',t)); e.on('b',()=>{}); const f=()=>{}; e.on('c',f); e.off('c',f); console.log(e.eventNames()); e.removeAllListeners(); console.log(e.eventNames());
class My extends EventEmitter{constructor(){super();this.v=1} go(){this.emit('go',this.v)}} const m=new My(); m.on('go',function(v){console.log(this===m,v)}); m.go();
const {once,on}=EventEmitter; (async()=>{setTimeout(()=>m.emit('z',7,8),1); console.log(await once(m,'z'));})();
function Old(){EventEmitter.call(this)} require('util').inherits(Old,EventEmitter); const o=new Old(); o.on('x',()=>console.log('old')); o.emit('x'); console.log(o instanceof EventEmitter, Old.super_===EventEmitter);
try{e.on('x',5)}catch(x){console.log(x.name,x.code,x.message)}
console.log(EventEmitter.defaultMaxListeners,e.getMaxListeners(), EventEmitter.EventEmitter===EventEmitter);
