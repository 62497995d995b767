// A diagram of about 500 blocks: columns of sums, each of two blocks of the column before.

const ROWS = 20;
const COLUMNS = 25;

export function largeDiagram() {
  const blocks = [];
  for (let row = 0; row < ROWS; row++) {
    blocks.push(`"s0_${row}": Sine(frequency: "${row + 1} Hz")`);
  }
  for (let column = 1; column < COLUMNS; column++) {
    for (let row = 0; row < ROWS; row++) {
      const other = (row + 3 * column) % ROWS;
      const inputs = `"u1": "s${column - 1}_${row}.y", "u2": "s${column - 1}_${other}.y"`;
      blocks.push(`"s${column}_${row}": Sum(signs: "+-", in: { ${inputs} })`);
    }
  }
  return `Diagram(
    format: 2,
    run: (stop: "10 s", step: "1 ms"),
    blocks: {
        ${blocks.join(",\n        ")},
    },
    log: ["s${COLUMNS - 1}_0.y"],
)
`;
}
