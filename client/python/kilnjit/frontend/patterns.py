# SPDX-License-Identifier: Apache-2.0
"""`match`, rewritten to ifs. The subject goes into a temporary; a pattern becomes conditions of type bool, joined by
`and`; a name that it binds is a walrus among them, after the tests that stand before it.

A name that was bound before a later test failed stays bound, as Python's own page on match allows."""
from .. import _kir as K
from .tree import Local


def _always(pattern):
    return type(pattern).__name__ == "MatchAs" and pattern.pattern is None


class Patterns:
    def s_Match(self, node):
        tree, subject = self.tree, Local("")
        value = self.expression(node.subject)
        target = tree.emit(K.LOCAL, subject, at=node.subject)
        first = tree.emit(K.ASSIGN, value, [target], at=node.subject)

        def read(at):
            return tree.emit(K.LOCAL, subject, at=at)

        chain, other = [], None
        for case in node.cases:
            pattern = case.pattern
            if _always(pattern) and case.guard is None:
                made = self.bind(pattern, read) + self.statements(case.body)
                if not chain:
                    return [first, *made]
                other = tree.emit(K.BLOCK, made or [tree.emit(K.PASS, at=pattern)], at=pattern)
                break
            tests = self.pattern(pattern, read)
            if case.guard is not None:
                tests.append(self.expression(case.guard))
            chain.append((pattern, self.both(tests, pattern), self.block(case.body, pattern)))
        while True:
            pattern, test, body = chain.pop()
            made = tree.emit(K.IF, test, body, other, at=pattern)
            if not chain:
                return [first, made]
            other = tree.emit(K.BLOCK, [made], at=pattern)

    def bind(self, pattern, read):
        """Statements for a name that is bound without a test."""
        if pattern.name is None:
            return []
        value = read(pattern)
        target = self.tree.emit(K.LOCAL, self.local(pattern.name), at=pattern)
        return [self.tree.emit(K.ASSIGN, value, [target], at=pattern)]

    def both(self, tests, at):
        return tests[0] if len(tests) == 1 else self.tree.emit(K.AND, tests, at=at)

    def pattern(self, node, read):
        """Emit the conditions of a pattern, in order. read(at) emits the value that is matched."""
        method = getattr(self, "p_" + type(node).__name__, None)
        if method is None:
            self.refuse("patterns of classes and mappings can't be compiled", node, "write the test with if")
        return method(node, read)

    def compare(self, op, left, right, at):
        return self.tree.emit(K.COMPARE, [op], [left, right], at=at)

    def p_MatchValue(self, node, read):
        left = read(node)
        return [self.compare(K.C_EQ, left, self.expression(node.value), node)]

    def p_MatchSingleton(self, node, read):
        left = read(node)
        return [self.compare(K.C_IS, left, self.tree.emit(K.CONST, self.values.key(node.value), at=node), node)]

    def p_MatchOr(self, node, read):
        tests = []
        for alternative in node.patterns:
            if _always(alternative):
                self.refuse("an alternative that always matches can't be compiled", alternative, "make it a case of its own")
            tests.append(self.both(self.pattern(alternative, read), alternative))
        return [self.tree.emit(K.OR, tests, at=node)]

    def p_MatchAs(self, node, read):
        tests = [] if node.pattern is None else self.pattern(node.pattern, read)
        if node.name is None:
            # a wildcard is true; its value must stand somewhere only where nothing else does
            return tests
        walrus = self.tree.emit(K.WALRUS, self.local(node.name), read(node), at=node)
        made = self.tree.emit(K.TUPLE, [walrus], at=node)  # a tuple with an item is true, whatever the item
        for _ in range(2):
            made = self.tree.emit(K.UNARY, K.U_NOT, made, at=node)
        return [*tests, made]

    def rest(self, node, read, first, after):
        """`*name` in a sequence: the items in between, as a slice of the subject."""
        tree = self.tree
        value = read(node)
        begin = tree.emit(K.CONST, (K.K_INT, first), at=node)
        end = tree.emit(K.CONST, (K.K_INT, -after), at=node) if after else None
        value = tree.emit(K.SUBSCRIPT, value, tree.emit(K.SLICE, begin, end, None, at=node), at=node)
        walrus = tree.emit(K.WALRUS, self.local(node.name), value, at=node)
        made = tree.emit(K.TUPLE, [walrus], at=node)
        for _ in range(2):
            made = tree.emit(K.UNARY, K.U_NOT, made, at=node)
        return made

    def p_MatchSequence(self, node, read):
        items = node.patterns
        stars = [i for i, p in enumerate(items) if type(p).__name__ == "MatchStar"]
        tree = self.tree
        length = tree.emit(K.CALL, tree.emit(K.LIB, (K.K_STR, "builtins.len"), at=node), [read(node)], [], [], at=node)
        count = tree.emit(K.CONST, (K.K_INT, len(items) - len(stars)), at=node)
        tests = [self.compare(K.C_GE if stars else K.C_EQ, length, count, node)]
        for i, item in enumerate(items):
            if stars and i == stars[0]:
                if item.name is not None:
                    tests.append(self.rest(item, read, i, len(items) - 1 - i))
                continue
            at = i if not stars or i < stars[0] else i - len(items)

            def part(where, at=at):
                value = read(where)
                return tree.emit(K.SUBSCRIPT, value, tree.emit(K.CONST, (K.K_INT, at), at=where), at=where)

            tests += self.pattern(item, part)
        return tests
