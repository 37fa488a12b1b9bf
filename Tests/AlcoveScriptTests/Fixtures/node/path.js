const path=require('path');
const ps=['','/','//','///a','/a/b/','a','a/b/c.txt','.','..','../a','./a','/a/../b','a//b','/a/b/../../..','.bashrc','a.b.c','/x/.y','a.','..a','/a/b.','foo/bar/..','C:\\x','a/./b','../../x','/a/b/c/','a.txt/','.a.b','...','x..','/./.', 'a/..', 'a/../..', '//a//b//', 'file.tar.gz'];
for(const p of ps){console.log(JSON.stringify(p),path.normalize(p),path.dirname(p),path.basename(p),path.extname(p),JSON.stringify(path.parse(p)),path.isAbsolute(p),path.basename(p,'.txt'),path.basename(p,path.extname(p)),path.format(path.parse(p)));
for(const q of ps){console.log(path.join(p,q),'|',path.relative('/r/'+p,'/r/'+q),'|',path.resolve('/base',p,q))}}
for(const bad of [null,5,{},undefined]) try{path.join('a',bad)}catch(e){console.log(e.name,e.code,e.message)}
console.log(path.sep,path.delimiter,path.posix===path,path.format({dir:'/a',name:'b',ext:'.c'}),path.format({root:'/',base:'x'}));
