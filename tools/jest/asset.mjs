// Stands in for style sheets and pictures, which only Vite knows how to import.
export default {};
