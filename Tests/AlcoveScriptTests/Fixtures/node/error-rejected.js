Promise.reject(new Error('r')); setTimeout(()=>console.log('never'),50);
