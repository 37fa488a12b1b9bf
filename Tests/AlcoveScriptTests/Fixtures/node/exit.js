console.log('before'); process.exit(5); console.log('not');
