// What settles the question: no input, and no place in the address. The gate shows it
// with the answer.

export const answers = true;
export const fit = (_control, value) => Boolean(value);
