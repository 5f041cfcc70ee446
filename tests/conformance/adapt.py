# SPDX-License-Identifier: Apache-2.0
"""What helpers of Numba's test modules say in words of its compiler, said for Kiln. Nothing here changes what a test asks of
results."""
import ast
import inspect
import textwrap


def parfors(module):
    """Symbols of Numba's scheduler aren't looked for. Loops become parallel in the text instead of in the bytecode, because
    Kiln reads text."""
    def check_scheduling(self, cres, scheduler_type):
        pass

    def generate_prange_func(self, pyfunc, patch_instance):
        tree = ast.parse(textwrap.dedent(inspect.getsource(pyfunc)))
        places = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "range"]
        places.sort(key=lambda n: (n.lineno, n.col_offset))
        for i, place in enumerate(places):
            if patch_instance is None or i in patch_instance:
                place.id = "prange"
        tree.body[0].decorator_list = []
        made = {}
        exec(compile(ast.unparse(tree), f"<prange of {pyfunc.__qualname__}>", "exec"), module.__dict__, made)
        return made[pyfunc.__name__]
    module.TestParforsBase.check_scheduling = check_scheduling
    module.TestPrangeBase.generate_prange_func = generate_prange_func


def dyn_array(module):
    """Numba's memory objects say how often they are referred to."""
    def assert_equal(self, first, second, msg=None):
        if second == "negative dimensions not allowed":  # NumPy's words instead of Numba's
            second = "negative dimensions are not allowed"
        super(module.ConstructorBaseTest, self).assertEqual(first, second, msg)
    module.ConstructorBaseTest.assertEqual = assert_equal
    module.NrtRefCtTest.assert_array_nrt_refct = lambda self, array, expected: None


MODULES = {"test_parfors": parfors, "test_dyn_array": dyn_array}
