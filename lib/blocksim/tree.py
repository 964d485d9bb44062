"""The parser: from tokens to a syntax tree like that of CPython's ``ast``.

Nodes and their fields have CPython's names, slightly flattened: operators are texts
("+"), and a name is the same node whether it is read or assigned. Syntax that no kernel
may use becomes a node of the kind "Refused" that says what it is, so that the rest of the
text can still be parsed.
"""

from .tokens import CLOSE, OPEN, tokens

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "in", "not", "is")
BINDING = {"or": 1, "and": 2}  # how tightly an operator binds
BINDING.update({sign: 4 for sign in COMPARISONS})
BINDING.update({"|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9})
BINDING.update({sign: 10 for sign in ("*", "/", "//", "%", "@")})
BINDING["**"] = 12
BEFORE = {
    "not": 3,
    "-": 11,
    "+": 11,
    "~": 11,
}  # how tightly a unary operator binds
CHANGES = "+= -= *= /= //= %= **= &= |= ^= <<= >>= @=".split()
BLOCKS = {  # compound statements that no kernel may use
    "try": "try",
    "with": "with",
    "class": "a class",
    "async": "async",
}
LINES = {  # simple statements that no kernel may use
    "import": "an import inside a kernel",
    "from": "an import inside a kernel",
    "global": "global",
    "nonlocal": "nonlocal",
    "del": "del",
}


class Node:
    """A node of the syntax tree.

    Attributes
    ----------
    kind : str
        As in ``ast``: "Assign", "BinOp", …
    line : int
        The line on which it starts.
    """

    def __init__(self, kind: str, line: int, **parts):
        self.kind = kind
        self.line = line
        for name in parts:
            setattr(self, name, parts[name])

    def __repr__(self) -> str:
        return f"{self.kind} on line {self.line}"


def parse(source: str) -> list:
    """Parse a text into a list of statements."""
    return Parser(source).module()


class Parser:
    """A recursive-descent parser, with one method for each syntactic form."""

    def __init__(self, source: str):
        self.tokens = tokens(source)
        self.at = 0

    # ---- tokens

    @property
    def token(self):
        """The next token."""
        return self.tokens[self.at]

    @property
    def line(self) -> int:
        """The line of the next token."""
        return self.tokens[self.at].line

    def sees(self, *texts: str) -> bool:
        """Return whether the next token is one of these operators or keywords."""
        token = self.tokens[self.at]
        return token.text in texts and token.kind in ("sign", "word")

    def takes(self, *texts: str) -> bool:
        """Consume the next token if it is one of these operators or keywords."""
        if not self.sees(*texts):
            return False
        self.at += 1
        return True

    def needs(self, text: str) -> None:
        """Consume this operator or keyword, or raise SyntaxError."""
        if not self.takes(text):
            raise SyntaxError(f"expected {text} on line {self.line}")

    def name(self) -> str:
        """Consume the next token; return its text."""
        self.at += 1
        return self.tokens[self.at - 1].text

    def skip_line(self) -> None:
        """Skip to the end of the logical line."""
        while self.token.kind not in ("newline", "end"):
            self.at += 1

    def skip_to(self, *texts: str) -> None:
        """Skip to one of these signs outside of further brackets, or to the line's end."""
        depth = 0
        while self.token.kind != "end":
            sign = self.token.text if self.token.kind == "sign" else ""
            if depth == 0 and (sign in texts or self.token.kind == "newline"):
                return
            depth += (sign in OPEN and sign != "") - (sign in CLOSE and sign != "")
            self.at += 1

    # ---- statements

    def module(self) -> list:
        """Parse all statements."""
        nodes = []
        while self.token.kind != "end":
            nodes += self.statement()
        return nodes

    def statement(self) -> list:
        """Parse a compound statement, or the simple statements of a line."""
        token = self.token
        if self.sees("@"):
            return [self.decorated()]
        if token.kind == "word":
            read = {
                "if": self.if_statement,
                "while": self.while_loop,
                "for": self.for_loop,
                "def": self.function,
            }.get(token.text)
            if read:
                return [read()]
            if token.text in BLOCKS:
                return [self.refused_block(BLOCKS[token.text])]
        if token.kind == "name" and token.text == "match" and self.is_match():
            return [self.refused_block("match")]
        return self.simple_line()

    def is_match(self) -> bool:
        """Return whether a line that starts with "match" has a block below it."""
        start = self.at
        self.skip_line()
        has_block = self.tokens[self.at - 1].text == ":" and self.at > start + 1
        self.at = start
        return has_block

    def simple_line(self) -> list:
        """Parse the statements of a line, between semicolons."""
        nodes = [self.simple()]
        while self.takes(";"):
            if self.token.kind != "newline":
                nodes.append(self.simple())
        self.at += 1
        return nodes

    def simple(self) -> Node:
        """Parse one simple statement."""
        line, text = self.line, self.token.text
        if self.token.kind == "word":
            if text in ("pass", "break", "continue"):
                self.at += 1
                return Node(text[0].upper() + text[1:], line)
            if text == "return":
                self.at += 1
                ends = self.token.kind == "newline" or self.sees(";")
                return Node("Return", line, value=None if ends else self.tuple())
            if text == "assert":
                return self.assertion(line)
            if text == "raise":
                return self.raising(line)
            if text in LINES:
                first = self.at
                self.skip_to(";")
                words = [token.text for token in self.tokens[first : self.at]]
                start, stop = self.tokens[first].start, self.tokens[self.at - 1].stop
                return Node(
                    "Refused",
                    line,
                    what=LINES[text],
                    words=words,
                    start=start,
                    stop=stop,
                )
        node = self.assignment(line)
        node.stop = self.tokens[self.at - 1].stop
        return node

    def raising(self, line: int) -> Node:
        """Parse a raise; without an exception, or with a cause, it is refused."""
        self.at += 1
        ends = self.token.kind == "newline" or self.sees(";")
        error = None if ends else self.expression()
        if error is not None and not self.sees("from"):
            return Node("Raise", line, error=error)
        self.skip_to(";")
        return Node("Refused", line, what="raise", words=[])

    def assertion(self, line: int) -> Node:
        """Parse an assert, as the if and the raise that it stands for."""
        self.at += 1
        test = Node("UnaryOp", line, op="not", operand=self.expression())
        error = Node("Name", line, id="AssertionError")
        args = [self.expression()] if self.takes(",") else []
        error = Node("Call", line, func=error, args=args, keywords=[])
        return Node(
            "If", line, test=test, body=[Node("Raise", line, error=error)], orelse=[]
        )

    def assignment(self, line: int) -> Node:
        """Parse an assignment, or an expression statement."""
        first = self.tuple()
        if self.takes(":"):
            annotation = self.expression()
            value = self.tuple() if self.takes("=") else None
            return Node(
                "AnnAssign", line, target=first, annotation=annotation, value=value
            )
        if self.sees(*CHANGES):
            sign = self.name()[:-1]
            return Node("AugAssign", line, target=first, op=sign, value=self.tuple())
        if not self.sees("="):
            return Node("Expr", line, value=first)
        parts = [first]
        while self.takes("="):
            parts.append(self.tuple())
        return Node("Assign", line, targets=parts[:-1], value=parts[-1])

    def refused_block(self, what: str) -> Node:
        """Skip a compound statement that no kernel may use."""
        line = self.line
        while True:
            self.at += 1
            self.skip_to(":", ";")
            if self.sees(":"):
                self.skip_block()
            if not self.sees("except", "finally", "else"):
                return Node("Refused", line, what=what, words=[])

    def skip_block(self) -> None:
        """Skip the block after a colon."""
        self.at += 1
        if self.token.kind != "newline":
            self.skip_to()
            self.at += 1
            return
        self.at += 2
        depth = 1
        while depth and self.token.kind != "end":
            depth += (self.token.kind == "indent") - (self.token.kind == "dedent")
            self.at += 1

    def block(self) -> list:
        """Parse the block after a colon."""
        self.needs(":")
        if self.token.kind != "newline":
            return self.simple_line()
        self.at += 2  # over the end of the line and the indentation
        nodes = []
        while self.token.kind not in ("dedent", "end"):
            nodes += self.statement()
        self.at += 1
        return nodes

    def if_statement(self) -> Node:
        """Parse an if; an elif becomes an if in its else."""
        line = self.line
        self.at += 1
        test, body = self.expression(), self.block()
        if self.sees("elif"):
            return Node("If", line, test=test, body=body, orelse=[self.if_statement()])
        orelse = self.block() if self.takes("else") else []
        return Node("If", line, test=test, body=body, orelse=orelse)

    def while_loop(self) -> Node:
        line = self.line
        self.at += 1
        test, body = self.expression(), self.block()
        orelse = self.block() if self.takes("else") else []
        return Node("While", line, test=test, body=body, orelse=orelse)

    def for_loop(self) -> Node:
        line = self.line
        self.at += 1
        target = self.series(self.target)
        self.needs("in")
        items, body = self.items(), self.block()
        orelse = self.block() if self.takes("else") else []
        return Node("For", line, target=target, iter=items, body=body, orelse=orelse)

    def target(self) -> Node:
        """Parse one target of a for, which ends before the word in."""
        if not self.sees("*"):
            return self.postfix()
        line = self.line
        self.at += 1
        self.postfix()
        return Node("Refused", line, what="a star before an expression", words=[])

    def items(self) -> Node:
        """Parse the iterable of a for, where Python turns a list display into a tuple."""
        first, node = self.at, self.tuple()
        if node.kind != "Refused" or node.what != "a list":
            return node
        self.at = first + 1
        parts = []
        while not self.sees("]"):
            parts.append(self.expression())
            if not self.takes(","):
                break
        self.needs("]")
        return Node("Tuple", node.line, elts=parts)

    def decorated(self) -> Node:
        """Parse a function or class with its decorators."""
        decorators = []
        while self.takes("@"):
            decorators.append(self.expression())
            self.at += 1
        if not self.sees("def"):
            return self.statement()[0]
        function = self.function()
        function.decorators = decorators
        return function

    def function(self) -> Node:
        line = self.line
        self.at += 1
        name = self.name()
        self.needs("(")
        parameters = self.parameters(")")
        self.needs(")")
        if self.takes("->"):
            self.expression()
        return Node(
            "FunctionDef",
            line,
            name=name,
            parameters=parameters,
            body=self.block(),
            decorators=[],
        )

    def parameters(self, stop: str) -> list:
        """Parse the parameters up to ``stop``, with their stars and defaults."""
        nodes = []
        while not self.sees(stop):
            line, stars = self.line, ""
            if self.sees("*", "**", "/"):
                stars = self.name()
            name = self.name() if self.token.kind == "name" else ""
            annotated = stop == ")" and self.takes(":")
            if annotated:
                self.expression()
            default = self.expression() if self.takes("=") else None
            nodes.append(Node("arg", line, name=name, stars=stars, default=default))
            if not self.takes(","):
                break
        return nodes

    # ---- expressions

    def series(self, read) -> Node:
        """Parse one expression, or several between commas as a tuple."""
        line = self.line
        first = read()
        if not self.sees(","):
            return first
        parts = [first]
        while self.takes(","):
            if self.ends() and not (self.sees(":") and read == self.slice):
                break
            parts.append(read())
        return Node("Tuple", line, elts=parts)

    def ends(self) -> bool:
        """Return whether no further expression follows a comma."""
        return self.token.kind in ("newline", "end") or self.sees(
            "=", ")", "]", "}", ":", ";", "in", *CHANGES
        )

    def tuple(self) -> Node:
        """Parse an expression, or a tuple without brackets."""
        return self.series(self.expression)

    def expression(self) -> Node:
        """Parse an expression without top-level commas."""
        line = self.line
        if self.sees("lambda"):
            return self.lambda_expression()
        if self.sees("*", "**"):
            stars = self.name()
            what = "a star before an expression"
            inner = self.expression()
            return Node("Refused", line, what=what, words=[stars], value=inner)
        if self.sees("yield", "await"):
            what = self.name()
            commas = () if what == "yield" else (",",)  # it yields a tuple with them
            self.skip_to(")", "]", "}", ";", *commas)
            return Node("Refused", line, what=what, words=[])
        body = self.operation(0)
        if self.token.kind == "sign" and self.takes(":="):
            return Node("NamedExpr", line, target=body, value=self.expression())
        if not self.takes("if"):
            return body
        test = self.operation(0)
        self.needs("else")
        return Node("IfExp", line, test=test, body=body, orelse=self.expression())

    def lambda_expression(self) -> Node:
        line = self.line
        self.at += 1
        parameters = self.parameters(":")
        self.needs(":")
        body = self.expression()
        return Node("Lambda", line, parameters=parameters, body=body)

    def operation(self, loosest: int) -> Node:
        """Parse operators that bind more tightly than ``loosest`` (precedence climbing).

        One function handles all of them, because MicroPython's stack is small.
        """
        line, op = self.line, self.operator()
        if op in BEFORE:
            self.at += 1
            inner = self.operation(BEFORE[op] - 1)
            left = Node("UnaryOp", line, op=op, operand=inner)
        else:
            left = self.postfix()
        while True:
            op = self.operator()
            binding = BINDING.get(op, 0)
            if binding <= loosest:
                return left
            if op in COMPARISONS:
                left = self.comparison(line, left)
            elif op in ("and", "or"):
                left = self.bool_operation(line, op, left)
            else:
                self.at += 1
                right = self.operation(10 if op == "**" else binding)
                left = Node("BinOp", line, left=left, op=op, right=right)

    def operator(self) -> str:
        """Return the next token's text if it is an operator or keyword, else ""."""
        token = self.tokens[self.at]
        return token.text if token.kind in ("sign", "word") else ""

    def bool_operation(self, line: int, word: str, first: Node) -> Node:
        """Parse a chain of "and", or of "or"."""
        values = [first]
        while self.takes(word):
            values.append(self.operation(BINDING[word]))
        return Node("BoolOp", line, op=word, values=values)

    def comparison(self, line: int, left: Node) -> Node:
        """Parse a chain of comparisons."""
        ops, others = [], []
        while self.sees(*COMPARISONS):
            op = self.name()
            if op == "is" and self.takes("not"):
                op = "is not"
            elif op == "not":
                self.needs("in")
                op = "not in"
            ops.append(op)
            others.append(self.operation(BINDING["in"]))
        return Node("Compare", line, left=left, ops=ops, comparators=others)

    def postfix(self) -> Node:
        """Parse an atom with the attributes, subscripts and calls after it."""
        line = self.line
        value = self.bracket(line) if self.sees("(") else self.atom()
        while self.token.kind == "sign":
            if self.takes("."):
                value = Node("Attribute", line, value=value, attr=self.name())
            elif self.takes("["):
                index = self.series(self.slice)
                self.needs("]")
                value = Node("Subscript", line, value=value, slice=index)
            elif self.takes("("):
                value = self.call(line, value)
            else:
                break
        return value

    def slice(self) -> Node:
        """Parse an index or a slice."""
        line, parts = self.line, []
        while True:
            bare = self.sees(":", "]", ",")
            parts.append(None if bare else self.expression())
            if not self.takes(":"):
                break
        if len(parts) == 1:
            return parts[0]
        return Node("Slice", line, parts=parts + [None] * (3 - len(parts)))

    def call(self, line: int, function: Node) -> Node:
        """Parse the arguments of a call, after its opening bracket."""
        args, keywords = [], []
        while not self.sees(")"):
            after = self.tokens[self.at + 1]
            if self.token.kind == "name" and (after.kind, after.text) == ("sign", "="):
                name = self.name()
                self.at += 1
                keywords.append((name, self.expression()))
            else:
                args.append(self.expression())
            if self.sees("for", "async"):
                self.skip_to(")")
                args[-1] = Node("Refused", line, what="a generator", words=[])
            if not self.takes(","):
                break
        self.needs(")")
        return Node("Call", line, func=function, args=args, keywords=keywords)

    def atom(self) -> Node:
        """Parse a name, a constant, or a collection."""
        line, token = self.line, self.token
        if self.sees("[", "{"):
            return self.collection(line)
        self.at += 1
        if token.kind == "name":
            return Node("Name", line, id=token.text)
        if token.kind == "number":
            return number(line, token.text)
        if token.kind == "string":
            return self.string(line, [token.text])
        if token.text in ("True", "False", "None"):
            value = {"True": True, "False": False}.get(token.text)
            return Node("Constant", line, value=value)
        if token.text == "...":
            return Node("Refused", line, what="an ellipsis", words=[])
        raise SyntaxError(f"unexpected {token.text!r} on line {line}")

    def string(self, line: int, texts: list) -> Node:
        """Parse a string literal; adjacent literals are joined."""
        while self.token.kind == "string":
            texts.append(self.name())
        for text in texts:
            prefix = text[: min(text.find(mark) for mark in "\"'" if mark in text)]
            if "f" in prefix.lower() and "{" in text.replace("{{", ""):
                return Node("Refused", line, what="an f-string", words=[])
            if "b" in prefix.lower():
                return Node("Refused", line, what="a bytes literal", words=[])
        return Node("Constant", line, value=eval(" ".join(texts), {}))

    def bracket(self, line: int) -> Node:
        """Parse an expression or tuple in round brackets."""
        self.at += 1
        if self.takes(")"):
            return Node("Tuple", line, elts=[])
        first = self.at
        inner = self.series(self.expression)
        if inner.kind == "Tuple" and self.tokens[first].text != "(":
            inner.line = line  # a tuple begins with its bracket
        if self.sees("for", "async"):
            self.skip_to(")")
            inner = Node("Refused", line, what="a generator", words=[])
        self.needs(")")
        return inner

    def collection(self, line: int) -> Node:
        """Skip a list, dictionary or set; return a node that says which it is."""
        opens = self.name()
        first, closes = self.at, "]" if opens == "[" else "}"
        self.skip_to(closes)
        depth, inside, before = 0, [], opens
        for token in self.tokens[first : self.at]:
            depth -= token.kind == "sign" and token.text in CLOSE
            if depth == 0 and token.kind in ("sign", "word"):
                spread = token.text == "**" and before in ("{", ",")
                inside.append(":" if spread else token.text)
            depth += token.kind == "sign" and token.text in OPEN
            before = token.text
        self.needs(closes)
        pairs = inside.count(":") > inside.count("lambda") or first == self.at - 1
        what = "list" if opens == "[" else "dictionary" if pairs else "set"
        what += " comprehension" if "for" in inside else ""
        return Node("Refused", line, what=f"a {what}", words=[])


def number(line: int, text: str) -> Node:
    """Return a number literal as a constant."""
    plain = text.replace("_", "").lower()
    if plain.endswith("j") and not plain.startswith("0x"):
        return Node("Refused", line, what="a complex number", words=[])
    if plain[:2] in ("0x", "0b", "0o"):
        value = int(plain[2:], {"x": 16, "b": 2, "o": 8}[plain[1]])
    elif "." in plain or "e" in plain:
        value = float(plain)
    else:
        value = int(plain)
    return Node("Constant", line, value=value)


def clone(part: object) -> object:
    """Return a copy of a tree, to be annotated with the types of another call."""
    if isinstance(part, list):
        return [clone(one) for one in part]
    if isinstance(part, tuple):
        return tuple([clone(one) for one in part])
    if not isinstance(part, Node):
        return part
    copy = Node(part.kind, part.line)
    for name in part.__dict__:
        if name not in ("kind", "line", "got", "copies"):
            setattr(copy, name, clone(part.__dict__[name]))
    return copy


def nodes_in(part: object) -> list:
    """Return the nodes of a tree, each once."""
    nodes, seen, waiting = [], set(), [part]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (list, tuple)):
            waiting += list(part)
        elif isinstance(part, Node) and id(part) not in seen:
            seen.add(id(part))
            nodes.append(part)
            waiting += list(part.__dict__.values())
    return nodes


def parts_of(target: Node) -> list:
    """Return the single targets in a possibly nested target."""
    if target.kind != "Tuple":
        return [target]
    targets = []
    for part in target.elts:
        targets += parts_of(part)
    return targets


def literal(node: Node) -> bool:
    """Return whether Python folds an expression at compile time."""
    if node.kind == "Constant":
        return isinstance(node.value, (int, float, bool))
    if node.kind == "UnaryOp":
        return node.op != "~" and literal(node.operand)
    if node.kind == "BinOp":
        return literal(node.left) and literal(node.right)
    return False
