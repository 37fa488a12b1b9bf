console.log('a'); let x = ;
