"""Rewrites the syntax trees of the front end's modules, which use names that numpy and Python have removed."""
import ast

VERSION = 1  # of the rewritten byte code

# Names of numpy, and the expressions that replace them. These hold for every version of numpy.
_NUMPY = {
    "object": "object", "bool": "bool", "int": "int", "float": "float", "complex": "complex", "str": "str",
    "long": "int", "unicode": "str", "asscalar": "__caffe2rt__.asscalar", "float_": "__caffe2rt__.float64",
    "string_": "bytes", "unicode_": "str", "product": "__caffe2rt__.product", "Inf": "__caffe2rt__.inf",
    "NaN": "__caffe2rt__.nan", "NINF": "__caffe2rt__.ninf", "PINF": "__caffe2rt__.inf", "Infinity": "__caffe2rt__.inf",
    "alltrue": "__caffe2rt__.alltrue", "sometrue": "__caffe2rt__.sometrue",
}
_INSPECT = {"getargspec": "__caffe2rt__.getargspec"}
_COLLECTIONS = {name: "__caffe2rt__.abc." + name for name in (
    "Iterable", "Mapping", "MutableMapping", "Sequence", "Callable", "Hashable", "Set", "Iterator")}
_MODULES = {"numpy": _NUMPY, "inspect": _INSPECT, "collections": _COLLECTIONS}


class _Names(ast.NodeTransformer):
    """Replaces `np.object` and the like, where the module imports numpy as `np`."""

    def __init__(self, aliases):
        self._aliases = aliases  # name in the module -> name of the module it denotes
        self.changed = False

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or not isinstance(node.ctx, ast.Load):
            return node
        table = _MODULES.get(self._aliases.get(node.value.id))
        if table is None or node.attr not in table:
            return node
        self.changed = True
        return ast.copy_location(_expression(table[node.attr], node), node)


def _expression(text, place):
    expression = ast.parse(text, mode="eval").body
    for part in ast.walk(expression):
        ast.copy_location(part, place)
    return expression


def _aliases(tree):
    aliases = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.name in _MODULES:
                    aliases[name.asname or name.name] = name.name
    return aliases


def _first_statement(tree):
    """The position after the docstring and the imports from __future__."""
    position = 0
    for statement in tree.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not is_text and not is_future:
            break
        position += 1
    return position


def rewrite(tree):
    """Replaces removed names in the tree of a module, and returns it."""
    names = _Names(_aliases(tree))
    names.visit(tree)
    if names.changed:
        remedies = ast.parse("import caffe2rt.frontend._remedies as __caffe2rt__").body
        tree.body[_first_statement(tree):_first_statement(tree)] = remedies
    return ast.fix_missing_locations(tree)


def without_torch(tree):
    """The package itself without its imports of torch, which is not needed here."""
    def imports_torch(node):
        names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        return any(name.split(".")[0] == "torch" for name in names)

    if any(isinstance(node, (ast.Import, ast.ImportFrom)) and imports_torch(node) for node in ast.walk(tree)):
        tree.body = []
    return tree


def patch(module):
    """What a module needs after it was loaded."""
    from caffe2rt.frontend import _remedies
    function = _remedies.PATCHES.get(module.__name__)
    if function is not None:
        function(module)
