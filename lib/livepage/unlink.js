// Takes an ES module apart, in V8 while the book is built: what it imports, what it
// exports, and its text without those statements, comments and indentation. acorn, which
// parses it, is loaded before.

/** The JSON of { imports, exports, body }; throws where a module cannot be packed. */
// oxlint-disable-next-line no-unused-vars -- modules.py calls it
function unlink(source) {
  const tokens = [];
  const options = { ecmaVersion: "latest", sourceType: "module", onToken: tokens };
  const tree = acorn.parse(source, options);
  const refuse = ({ start }, what) => {
    const { line } = acorn.getLineInfo(source, start);
    throw new SyntaxError(`line ${line}: ${what} cannot be packed`);
  };
  const module = { imports: [], exports: {}, cuts: [], tokens, refuse };
  for (const node of tree.body) TAKE[node.type]?.(node, module);
  refuseImportsWithin(module);
  const body = joined(source, tokens, module.cuts);
  new Function(`"use strict"; ${body}`); // throws where a function may not do as much
  return JSON.stringify({ imports: module.imports, exports: module.exports, body });
}

/** `import` that begins no statement is a call or asks for `meta`. */
function refuseImportsWithin({ tokens, cuts, refuse }) {
  const statements = new Set(cuts.map(({ start }) => start));
  const isWithin = ({ type, start }) =>
    type.label === "import" && !statements.has(start);
  const found = tokens.find(isWithin);
  if (found) refuse(found, "import() or import.meta");
}

/** What becomes of a statement that imports or exports. A cut leaves out a piece of the
 *  text, and puts other text there if it has any. */
const TAKE = {
  ImportDeclaration(node, { imports, cuts }) {
    const names = node.specifiers.map((each) => [importedName(each), each.local.name]);
    imports.push({ source: node.source.value, names });
    cuts.push({ start: node.start, end: node.end });
  },

  ExportNamedDeclaration(node, { exports, cuts, refuse }) {
    const { start, end, declaration } = node;
    if (node.source) refuse(node, "export … from");
    if (["let", "var"].includes(declaration?.kind)) refuse(node, "a changing export");
    cuts.push({ start, end: declaration?.start ?? end });
    for (const name of declaration ? declared(declaration) : []) exports[name] = name;
    for (const each of node.specifiers)
      exports[nameOf(each.exported)] = each.local.name;
  },

  ExportDefaultDeclaration(node, { exports, cuts, tokens, refuse }) {
    const { start, declaration } = node;
    const isDeclaration = declaration.type.endsWith("Declaration");
    if (isDeclaration && !declaration.id) refuse(node, "a default export with no name");
    exports.default = isDeclaration ? declaration.id.name : "$default";
    const word = tokens.find((token) => token.start > start); // `default`
    const text = isDeclaration ? "" : "const $default =";
    cuts.push({ start, end: word.end, text });
  },

  ExportAllDeclaration(node, { refuse }) {
    refuse(node, "export * from");
  },
};

/** A name in an import or export: an identifier, or a string. */
const nameOf = (node) => node.name ?? node.value;

function importedName({ type, imported }) {
  if (type === "ImportNamespaceSpecifier") return "*";
  return imported ? nameOf(imported) : "default";
}

/** The names that a declaration or a pattern binds. */
function declared(node) {
  if (!node) return [];
  const inside =
    {
      Identifier: () => [node],
      VariableDeclaration: () => node.declarations.map(({ id }) => id),
      ObjectPattern: () => node.properties,
      ArrayPattern: () => node.elements,
      Property: () => [node.value],
      AssignmentPattern: () => [node.left],
      RestElement: () => [node.argument],
    }[node.type] ?? (() => [node.id]);
  return inside().flatMap((part) => (part === node ? [node.name] : declared(part)));
}

/** The tokens of a text one after the other. Where a line ended between two of them, one
 *  still does: JavaScript may end a statement there. */
function joined(source, tokens, cuts) {
  let [text, end] = ["", 0];
  const waiting = [...cuts];
  for (const { start, end: next } of tokens) {
    if (waiting[0]?.end <= start) waiting.shift();
    const [cut] = waiting[0]?.start <= start ? waiting : [];
    if (cut) {
      if (cut.text && cut.start === start) text += `\n${cut.text}`;
      continue;
    }
    const between = source.slice(end, start);
    text += /[\n\r\u2028\u2029]/.test(between) ? "\n" : between && " ";
    text += source.slice(start, next);
    end = next;
  }
  return `${text.trim()}\n`;
}
