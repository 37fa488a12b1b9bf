const rl=require('readline').createInterface({input:process.stdin}); rl.on('line',l=>console.log('L',l)).on('close',()=>console.log('closed'));
