console.log(1);
function f(){ throw new TypeError('deep'); }
process.on('exit',(c)=>console.log('code',c));
setTimeout(f,1);
