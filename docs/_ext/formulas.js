// TeX to MathML, a formula in each line: {"tex": ..., "display": ...} in, {"mathml": ...} or {"error": ...} out.
"use strict";

const [, , folder] = process.argv;

require(`${folder}/node-main.js`).init({
  loader: { load: ["input/tex-base", "[tex]/ams", "[tex]/newcommand"], paths: { mathjax: folder } },
  tex: { packages: ["base", "ams", "newcommand"], formatError: (jax, error) => { throw Error(error.message); } },
}).then((MathJax) => {
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { tex, display } = JSON.parse(line);
    let found;
    try {
      found = { mathml: MathJax.tex2mml(tex, { display }) };
    } catch (error) {
      found = { error: error.message };
    }
    process.stdout.write(`${JSON.stringify(found)}\n`);
  });
});
