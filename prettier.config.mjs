/** Layout is the formatter's: `npm run format` applies it, `make lint` checks it. */
export default { printWidth: 120, singleQuote: true, trailingComma: 'all' };
