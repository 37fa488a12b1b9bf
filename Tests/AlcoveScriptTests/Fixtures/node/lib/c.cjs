module.exports={cjs:true, f(){return 1}}; exports.never=1;
