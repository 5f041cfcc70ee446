# SPDX-License-Identifier: Apache-2.0
"""Kiln under the names of Numba: what a test module of Numba finds when it imports `numba` after `install()`.

The real package stays for its type objects, `typeof` and exception classes. Whatever makes code is replaced, and the
real compiler is locked, so that nothing passes by its doing. `tally` says of each test what it compiled and how."""
import importlib
import re
import warnings
from contextlib import contextmanager
from types import FunctionType, SimpleNamespace

import kilnjit
import kilnjit.function
import kilnjit.jitclass
import numba
import numba.core.compiler
import numba.core.decorators
import numba.core.dispatcher
import numba.core.typed_passes
import numba.experimental
import numba.extending
from kilnjit import errors as kiln_errors
from numba.core import errors as numba_errors, types

import numba_types

#: a refusal that says this is a gap, not the answer that a test wants
GAP = re.compile(r"\byet\b|by this version|can't take|has no layout|has no type")


class Tally:
    """What one test did. answers: artifacts from the daemon; refusals: errors of compilation; detours: what was not
    Kiln's doing, which disqualifies."""

    def begin(self):
        self.answers, self.refusals, self.detours = 0, [], []

    def why_idle(self):
        """Why a test without failures doesn't count as passed; "" if it counts."""
        if self.detours:
            return self.detours[0]
        if not self.answers and not self.refusals:
            return "compiles nothing"
        gaps = [r for r in self.refusals if GAP.search(r)]
        return f"expects an error, and this is a gap: {gaps[0]}" if gaps and not self.answers else ""


    def wording(self, failure):
        """A failed assertion that Kiln's refusal has the words of Numba's; not if the refusal is a gap."""
        if not self.refusals or not re.search(r"not found in|didn't match|does not match|Regex", failure):
            return False
        return any(r in failure or repr(r)[1:-1] in failure for r in self.refusals if r and not GAP.search(r))


tally = Tally()
tally.begin()


# -- errors: Kiln's are Numba's too

def _both(kiln, other):
    def init(self, *args):
        Exception.__init__(self, *args)
        self.msg, self.loc = str(args[0]) if args else "", None
        tally.refusals.append(self.msg.partition("\n")[0])
    return type(kiln.__name__, (kiln, other), {"__init__": init, "__str__": Exception.__str__})


def _map_errors():
    for name, other in (("KilnTypeError", numba_errors.TypingError), ("KilnSignatureError", numba_errors.TypingError),
                        ("KilnSyntaxError", numba_errors.UnsupportedError), ("KilnCompileError", numba_errors.LoweringError),
                        ("KilnLimitError", numba_errors.LoweringError), ("KilnWorkerError", numba_errors.LoweringError),
                        ("KilnInternalError", numba_errors.LoweringError), ("KilnSourceError", numba_errors.UnsupportedError)):
        setattr(kiln_errors, name, _both(getattr(kiln_errors, name), other))


def unsupported(what):
    """Something that Kiln doesn't have: the error says so, and the test that met it doesn't pass."""
    tally.detours.append(f"Kiln has no {what}")
    return numba_errors.UnsupportedError(f"Kiln has no {what}")


class Inner(Exception):
    """The test looks into Numba's compiler."""


def inner(what):
    tally.detours.append(f"looks into Numba: {what}")
    return Inner(what)


class Library:
    """The code of a result, as texts."""

    def __init__(self, function, types):
        self.get_llvm_str = lambda: function.inspect_llvm(types)
        self.get_asm_str = lambda: function.inspect_asm(types)

    def __getattr__(self, name):
        raise inner(f"library.{name}")


class Metadata(dict):
    def __missing__(self, key):
        raise inner(f"metadata[{key!r}]")


# -- dispatchers

class Function(kilnjit.function.Function):
    """Kiln's, asked in Numba's words: types are Numba's objects."""

    def specialization(self, artifact, module, env):
        tally.answers += 1
        if any((f.filename, f.firstline) in extended for f in module.functions):
            tally.detours.append("Kiln has no overload")
        return super().specialization(artifact, module, env)

    def _signature(self, s):
        return numba_types.signature(s.artifact.info["params"], s.artifact.info["ret"])

    @property
    def nopython_signatures(self):
        return [self._signature(s) for s in self.dispatcher.specializations]

    @property
    def signatures(self):
        return [s.args for s in self.nopython_signatures]

    @property
    def overloads(self):
        return {self._signature(s).args: Result(self, s) for s in self.dispatcher.specializations}

    def compile(self, sig):
        return Result(self, super().compile(_text(sig))).entry_point

    def get_overload(self, sig):
        args, _ = numba.core.sigutils.normalize_signature(sig)
        return self.overloads[tuple(args)].entry_point

    def _texts(self, texts, signature):
        """{types: text}, or one text."""
        by_types = {tuple(map(numba_types.numba, params)): text for params, text in texts.items()}
        if signature is None:
            return by_types
        return by_types[tuple(numba.core.sigutils.normalize_signature(signature)[0])]

    def inspect_llvm(self, signature=None):
        return self._texts(super().inspect_llvm(), signature)

    def inspect_asm(self, signature=None):
        return self._texts(super().inspect_asm(), signature)

    def get_annotation_info(self, signature=None):
        raise inner("get_annotation_info")


class Result:
    """What compile_isolated() returns."""

    objectmode, lifted, interpmode, fndesc, environment = False, (), False, None, None

    def __init__(self, function, specialization):
        self._specialization = specialization
        self.signature = function._signature(specialization)
        self.target_context = self.typing_context = self.type_annotation = None
        self.library, self.metadata = Library(function, self.signature.args), Metadata()
        wanted, name = self.signature.args, function.py_func.__name__

        def entry_point(*values):
            if len(values) != len(wanted):
                raise TypeError(f"{name}() takes {len(wanted)} arguments, not {len(values)}")
            values = map(numba_types.unbox, values, wanted)
            # a dispatcher without further compiling takes arrays of other layouts, as Numba's entry points do
            only = len(function.dispatcher.specializations) == 1 and function.closed
            return (function.dispatcher if only else specialization)(*values)
        entry_point.__name__, entry_point.__module__ = name, function.py_func.__module__
        self.entry_point = entry_point


def _text(sig):
    try:
        return numba_types.signature_text(sig)
    except numba_types.NoType as error:
        tally.detours.append(f"Kiln has no {error}")
        raise kiln_errors.KilnTypeError(f"a signature with {error}: not compiled yet") from None


#: options of Numba's that say nothing about what a function means
IGNORED = {"nopython", "cache", "nogil", "looplift", "no_cpython_wrapper", "no_cfunc_wrapper", "_nrt", "no_rewrites", "target_backend",
           "_target", "_dbg_extend_lifetimes", "_dbg_optnone"}


def _options(options, locals):
    made = {"semantics": "numba"}
    if options.pop("pipeline_class", None) is not None:
        raise inner("pipeline_class")
    for name, value in options.items():
        if name in IGNORED and name != "nogil" or value is None:
            continue
        if name == "parallel":
            made[name] = bool(value)
        elif name == "inline":
            if value in ("always", "never"):
                made[name] = value
        elif name == "fastmath":
            made[name] = set(value.flags) if hasattr(value, "flags") else value
        elif name != "forceobj":
            made[name] = value
    if locals:
        made["locals"] = {n: kilnjit.types.Type(numba_types.text(t)) for n, t in locals.items()}
    return made


def _decorate(py_func, options, signatures=()):
    f = Function(py_func, kilnjit.function.Options(options), signatures)
    if signatures:
        f.finish_eager()
    return f.dispatcher


def jit(signature_or_function=None, locals={}, cache=False, pipeline_class=None, boundscheck=None, **options):
    given = signature_or_function
    if options.get("nopython") and options.get("forceobj"):
        raise ValueError("Only one of 'nopython' or 'forceobj' can be True.")
    if given is None or isinstance(given, list):
        signatures = given or ()
    elif numba.core.sigutils.is_signature(given):
        signatures = (given,)
    else:
        return jit(None, locals, cache, pipeline_class, boundscheck, **options)(given)
    forced = options.get("forceobj")
    options = dict(options, pipeline_class=pipeline_class, boundscheck=boundscheck)

    def wrapper(function):
        if hasattr(function, "_kiln_function"):
            raise TypeError(f"A jit decorator was called on an already jitted function {function}.")
        if not isinstance(function, FunctionType):
            raise TypeError(f"The decorated object is not a function (got type {type(function)}).")
        if numba.core.config.DISABLE_JIT:
            return function
        if forced:
            tally.detours.append("object mode")
            return function
        return _decorate(function, _options(dict(options), locals), [_text(s) for s in signatures])
    return wrapper


def njit(*args, **options):
    if "nopython" in options:
        warnings.warn("nopython is set for njit and is ignored", RuntimeWarning)
    if "forceobj" in options:
        warnings.warn("forceobj is set for njit and is ignored", RuntimeWarning)
        del options["forceobj"]
    options["nopython"] = True
    return jit(*args, **options)


jit._kiln_decorator = njit._kiln_decorator = True


# -- compile_isolated and what is below

def _from_flags(flags):
    options = {}
    if flags is None:
        return options
    for name in ("error_model", "fastmath", "boundscheck", "auto_parallel", "debuginfo"):
        if name not in type(flags).options or not flags.is_set(name):
            continue
        value = getattr(flags, name)
        if name == "auto_parallel":
            options["parallel"] = bool(value.enabled)
        elif name == "debuginfo":
            continue
        else:
            options[name] = value
    return options


def compile_isolated(func, args, return_type=None, flags=None, locals={}):
    if flags is not None and flags.force_pyobject:
        tally.detours.append("object mode")
        return SimpleNamespace(entry_point=func, objectmode=True, signature=None, lifted=(), metadata={})
    if hasattr(func, "_kiln_function"):
        func = func.py_func
    try:
        text = f"{'' if return_type is None else numba_types.text(return_type)}({', '.join(map(numba_types.text, args))})"
    except numba_types.NoType as error:
        tally.detours.append(f"Kiln has no {error}")
        raise kiln_errors.KilnTypeError(f"a signature with {error}: not compiled yet") from None
    f = _decorate(func, _options(_from_flags(flags), locals), [text]).owner
    return Result(f, f.dispatcher.specializations[0])


def compile_extra(typingctx, targetctx, func, args, return_type, flags, locals, library=None, pipeline_class=None):
    return compile_isolated(func, args, return_type, flags, locals)


# -- classes

def _decorate_plain(py_func, options, signatures=(), plain=False):
    return _decorate(py_func, _options(dict(options), {}), signatures)


def _kiln_type(t):
    """A field's type, as Kiln's object; what is no type of Numba stays."""
    if not isinstance(t, types.Type):
        return t
    try:
        return kilnjit.types.Type(numba_types.text(t))
    except numba_types.NoType as error:
        tally.detours.append(f"Kiln has no {error}")
        raise unsupported(f"a field of {error}") from None


def jitclass(cls_or_spec=None, spec=None):
    if isinstance(cls_or_spec, type):
        return kilnjit.experimental.jitclass(cls_or_spec, _kiln_spec(spec))
    return kilnjit.experimental.jitclass(_kiln_spec(cls_or_spec if spec is None else spec))


def _kiln_spec(spec):
    if isinstance(spec, (list, tuple)):
        return [(row[0], _kiln_type(row[1]), *row[2:]) if isinstance(row, tuple) and len(row) > 1 else row for row in spec]
    return {n: _kiln_type(t) for n, t in spec.items()} if hasattr(spec, "items") else spec


def optional(t):
    return types.Optional(t) if isinstance(t, types.Type) else kilnjit.types.Optional(t)


# -- what Kiln has no counterpart for yet, and the lock

class Absent:
    """A decorator that Kiln lacks: modules that use it can be imported, the test that uses its result fails."""

    def __init__(self, name):
        self.name = name

    def __call__(self, *args, **options):
        return Absent(self.name)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise unsupported(self.name)


class AbsentResult(Absent):
    def __call__(self, *args, **options):
        raise unsupported(self.name)


#: functions that a module extends with `overload` while it is imported: what uses them doesn't do what Numba does
extended = set()


def extension(name):
    """`overload` and its like, while Kiln has none: whatever meets the extended function doesn't pass."""
    def decorator(*args, **options):
        tally.detours.append(f"Kiln has no {name}")
        code = getattr(args[0], "__code__", None) if args else None
        if code is not None:
            extended.add((code.co_filename, code.co_firstlineno))
        if name == "intrinsic":
            return args[0] if args else lambda function: function
        return lambda function: function
    decorator.__name__ = name
    return decorator


def absent(name):
    """A decorator with or without arguments whose result can't be called."""
    def decorator(*args, **options):
        tally.detours.append(f"Kiln has no {name}")
        if len(args) == 1 and not options and (isinstance(args[0], (FunctionType, type)) and not isinstance(args[0], types.Type)):
            return AbsentResult(name)
        return lambda function: AbsentResult(name)
    decorator.__name__ = name
    return decorator


def _inner(name):
    def function(*args, **options):
        raise inner(name)
    return function


def _locked(*args, **options):
    tally.detours.append("the real Numba compiles")
    raise numba_errors.LoweringError("the real Numba is locked")


ABSENT = ("vectorize", "guvectorize", "stencil", "cfunc", "generated_jit", "jit_module")
EXTENDING = ("overload", "overload_method", "overload_attribute", "intrinsic")


def _import_all():
    """What Numba imports when it compiles for the first time, now: it decorates with what is replaced below."""
    import importlib
    from numba.core.registry import cpu_target
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    for name in ("typed", "typed.listobject", "typed.dictobject", "typed.typedlist", "typed.typeddict", "experimental.structref",
                 "experimental.jitclass", "np.unsafe.ndarray", "cpython.unsafe.tuple", "cpython.unsafe.numbers", "np.ufunc",
                 "parfors.parfor", "stencils.stencil", "misc.special", "testing", "pycc", "cpython.unicode", "cpython.hashing",
                 "cpython.heapq", "cpython.charseq", "cuda", "np.polynomial", "np.random.generator_methods", "misc.literal"):
        try:
            importlib.import_module("numba." + name)
        except ImportError:
            pass


def install():
    """Before any test module is imported."""
    _import_all()
    _map_errors()
    types.Type._kiln_text = property(lambda t: _text_or_none(t))
    made = {"jit": jit, "njit": njit, "prange": kilnjit.prange}
    for name in ABSENT:
        made[name] = getattr(kilnjit, name, None) or absent(name)
    for name, value in made.items():
        for module in (numba, numba.core.decorators):
            if hasattr(module, name):
                setattr(module, name, value)
    numba.extending.register_jitable = _register_jitable
    for name in EXTENDING:
        value = getattr(kilnjit, name, None) or extension(name)
        setattr(numba.extending, name, value)
        setattr(numba.core.extending, name, value)
    base = importlib.import_module("numba.experimental.jitclass.base")
    base.JitClassType = kilnjit.jitclass.JitClass
    kilnjit.function.decorate = _decorate_plain
    numba.experimental.jitclass = jitclass
    numba.deferred_type = kilnjit.deferred_type
    numba.optional = optional
    numba.core.compiler.compile_isolated = compile_isolated
    numba.core.compiler.compile_extra = compile_extra
    numba.core.compiler.compile_ir = _locked
    numba.core.compiler.CompilerBase.compile_extra = _locked
    numba.core.compiler.CompilerBase.compile_ir = _locked
    numba.core.dispatcher.Dispatcher = kilnjit._kiln.Dispatcher
    numba.extending.is_jitted = numba.core.extending.is_jitted = lambda f: hasattr(f, "_kiln_function")
    for name in ("run_frontend", "compile_internal"):
        setattr(numba.core.compiler, name, _inner(name))
    numba.core.typed_passes.type_inference_stage = _inner("type_inference_stage")
    numba.core.dispatcher._FunctionCompiler._compile_core = _locked
    _map_support()


def _register_jitable(*args, **options):
    return args[0] if args and callable(args[0]) else lambda function: function


def _text_or_none(t):
    try:
        return numba_types.text(t)
    except numba_types.NoType:
        return None


def _map_support():
    """Leaks are counted by Kiln's own counters of live blocks."""
    import gc

    import numba.tests.support as support
    from kilnjit import _kiln

    def live():
        gc.collect()
        return _kiln.counts()["mem_live"]

    def setup(self):
        self._kiln_live = live()

    def teardown(self):
        if hasattr(self, "_kiln_live"):
            self.assertEqual(live(), self._kiln_live, "blocks of memory that compiled code made are not freed")

    @contextmanager
    def no_leak(self):
        before = live()
        yield
        self.assertEqual(live(), before, "blocks of memory that compiled code made are not freed")
    def no_process(self, *args, **options):
        raise self.skipTest("starts a process with the real Numba")
    support.TestCase.subprocess_test_runner = no_process
    support.MemoryLeak.memory_leak_setup = setup
    support.MemoryLeak.memory_leak_teardown = teardown
    support.TestCase.assertNoNRTLeak = no_leak
