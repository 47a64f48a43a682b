console.error(`sluice ${process.argv[2] ?? ''}: not built yet`);
process.exitCode = 1;
