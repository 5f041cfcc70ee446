# SPDX-License-Identifier: Apache-2.0
"""A decorated function: its options, its specializations and what can be asked of them. Calls go through the
extension's Dispatcher; this object is its `owner` and does what is slow."""
import copyreg
import os
import sys
import warnings

from . import _kiln, _kir as K, diagnose, errors
from .client import get as client
from .options import Options
from .raising import raised

#: plain Python where there is no daemon: told once
_warned = False


def parameters(function):
    """(names, kinds, defaults) of a Python function; kinds as in KIR. **kwargs is left out: only calls in compiled code
    fill it (frontend/keywords.py)."""
    code = function.__code__
    n, pos = code.co_argcount, code.co_posonlyargcount
    names = list(code.co_varnames[:n + code.co_kwonlyargcount])
    kinds = [1] * pos + [2] * (n - pos) + [4] * code.co_kwonlyargcount
    if code.co_flags & 0x04:  # *args
        names.insert(n, code.co_varnames[n + code.co_kwonlyargcount])
        kinds.insert(n, 3)
    given = dict(zip(code.co_varnames[:n][::-1], (function.__defaults__ or ())[::-1]))
    given.update(function.__kwdefaults__ or {})
    return names, kinds, [given.get(name, _kiln.MISSING) for name in names]


def _frozen(array):
    """A read-only copy."""
    copy = array.copy(order="K")
    copy.setflags(write=False)
    return copy


class Function:
    """What is behind a Dispatcher."""

    plain = False  # results are Python's own numbers, whatever the semantics

    def __init__(self, py_func, options, signatures=()):
        self.py_func, self.options = py_func, options
        self.hits = self.misses = 0
        self.frozen = {}  # values read from outside by the first specialization
        self.told = False
        self.closed = False  # compiles nothing new
        self.asked = {}      # parameter types -> the signature that asked for them, which may promise a result type
        self.names, self.kinds, defaults = parameters(py_func)
        self.dispatcher = d = _kiln.Dispatcher(py_func.__name__, self.names, self.kinds, defaults, self.compile_for,
                                               numba=options.numba, owner=self)
        for name in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
            setattr(d, name, getattr(py_func, name))
        d.__wrapped__ = py_func
        self.eager = [self.submit(s) for s in signatures]

    # -- compiling

    def module(self, own_name=False, signature=""):
        """The function as KIR, from its text and the values of its globals now. signature: a text that may mention
        objects by their serial numbers."""
        from .frontend.convert import convert
        from .frontend.module import serials
        from .frontend.diagnostics import Refused, SourceError
        try:
            given = [(n, _kiln.object_of(n)) for n in dict.fromkeys(serials(signature)[1::2])]
            made = convert(self.py_func, self.options.flags, own_name, self.options.locals, given)
            if self.options.numba:  # there, captured arrays are constants
                made.env = [_frozen(a) for a in made.env]
            return made
        except Refused as error:
            raise diagnose.refused(error) from None
        except SourceError as error:
            raise diagnose.no_source(error) from None

    def request(self, module, signature, emit="so"):
        o = self.options
        body = _kiln.pack_kir(module.wire)
        env = [_kiln.typeof(a, o.numba) for a in module.env]
        return {"body": body, "signature": module.signature(signature), "digest": _kiln.digest(body), "env": env, "entry": self.py_func.__qualname__,
                "target": o.target, "emit": emit, "flags": module.entry_flags, "semantics": o.semantics, "checked": o.checked, "debug": o.debug,
                "nocontract": o.nocontract}, env

    def specialization(self, artifact, module, env):
        info = artifact.info
        if artifact.source == "compiled":
            self.misses += 1
        else:
            self.hits += 1
        return _kiln.Specialization(artifact, params=info["params"], ret=info["ret"], env_types=env, env=module.env,
                                    nogil=self.options.nogil, parallel=self.options.parallel, raise_hook=raised, data=module,
                                    numba=self.options.numba or self.plain, classes=module.usertypes, functions=module.objects,
                                    keeps=[K.K_STR, "kilnjit.objmode"] in module.wire[3])  # Python may keep what it is given

    def build(self, signature):
        """A new Specialization for a signature's text."""
        module = self.module(signature=signature)
        request, env = self.request(module, signature)
        try:
            artifact = client().compile("kir", **request)
        except errors.KilnError as error:
            raise diagnose.explained(error, module).with_traceback(None) from None
        self.compare_frozen(module)
        return self.specialization(artifact, module, env)

    def compare_frozen(self, module):
        """Say so when specializations of one function see different values of a global."""
        if not self.dispatcher.specializations:
            self.frozen = module.frozen
            return
        changed = sorted({name for (f, name), key in module.frozen.items() if self.frozen.get((f, name), key) != key})
        if changed:
            warnings.warn(f"{self.py_func.__qualname__}(): {', '.join(changed)} changed since the first compile; code for types that "
                          "were met before keeps the old value until recompile()", errors.KilnWarning, stacklevel=4)

    def compile_for(self, args, types):
        """The extension's question when no specialization fits the arguments."""
        try:
            if self.eager:
                self.finish_eager()
                return self.call_again
            for name, value, text in zip(self.names, args, types):
                if text is None:
                    raise self.no_type(name, value)
            return self.build(f"({', '.join(types)})")
        except errors.KilnError as error:
            if os.environ.get("KILN_FALLBACK", "error") != "python":
                raise
            return self.fall_back(error)

    def unbound(self, function):
        """A callable that takes one value a parameter and calls `function` as the user did."""
        names, kinds = self.names, self.kinds

        def call(*values):
            positional, keywords = [], {}
            for name, kind, value in zip(names, kinds, values):
                if kind == K.P_STAR:
                    positional += value
                elif kind == K.P_KWONLY:
                    keywords[name] = value
                else:
                    positional.append(value)
            return function(*positional, **keywords)
        return call

    def call_again(self, *values):
        return self.unbound(self.dispatcher)(*values)

    def no_type(self, name, value):
        cls = type(value)
        np, hint = sys.modules.get("numpy"), ""
        if cls.__name__ == "ndarray":
            what = f"is an array of dtype {value.dtype}"
            if not value.dtype.isnative:
                hint = f"\n  hint: pass {name}.astype({name}.dtype.newbyteorder('='))"
        else:
            what = f"is of type {cls.__module__}.{cls.__qualname__}" if cls.__module__ != "builtins" else f"is of type {cls.__name__}"
            if cls in (list, dict, set):
                hint = "\n  hint: its items need one type that compiled code knows; containers are nested 16 deep at most"
            elif cls is tuple:
                hint = "\n  hint: its items need types that compiled code knows; a call has 1,000 values at most, nested 16 deep"
            elif np is not None and isinstance(value, np.ndarray):
                hint = f"\n  hint: compiled code would see the bare array: pass {name}.view(numpy.ndarray) if that is what is wanted"
            else:
                plain = next((c for c in (int, float, complex, tuple) if isinstance(value, c) and cls is not c), None)
                hint = f"\n  hint: pass {plain.__name__}({name})" if plain else ""
        code = self.py_func.__code__
        return errors.KilnTypeError(f"argument {name!r} of {self.py_func.__qualname__}() {what}, which compiled code can't take\n"
                                    f'  File "{code.co_filename}", line {code.co_firstlineno}, in {code.co_name}{hint}')

    def fall_back(self, error):
        """Plain Python instead (KILN_FALLBACK=python), with one warning: one a process for a daemon that can't be
        had, one a function for what can't be compiled."""
        global _warned
        if isinstance(error, errors.KilnConnectError):
            if not _warned:
                _warned = True
                warnings.warn(f"no Kiln daemon, functions run as plain Python (KILN_FALLBACK=python): {error.message}",
                              errors.KilnWarning, stacklevel=3)
        elif not self.told:
            self.told = True
            warnings.warn(f"{self.py_func.__qualname__}() runs as plain Python (KILN_FALLBACK=python): {error}", errors.KilnWarning,
                          stacklevel=3)
        return self.unbound(self.py_func)

    # -- eager signatures: sent when the function is decorated, awaited at its first call

    def submit(self, signature):
        module = self.module(own_name=True, signature=str(signature))
        request, env = self.request(module, str(signature))
        try:
            pending = client().submit("kir", **request)
        except errors.KilnConnectError:
            pending = None  # told at the first call
        return pending, module, env, str(signature)

    def finish_eager(self):
        eager, self.eager = self.eager, []
        for pending, module, env, signature in eager:
            try:
                artifact = pending.result() if pending is not None else client().compile("kir", **self.request(module, signature)[0])
            except errors.KilnError as error:
                self.eager = eager
                raise diagnose.explained(error, module).with_traceback(None) from None
            self.install(self.specialization(artifact, module, env), signature)
        self.disable_compile()

    # -- what users ask

    @property
    def _kiln_function(self):
        return self.py_func, self.options.flags, self.options.locals

    @property
    def targetoptions(self):
        return dict(self.options.given)

    @property
    def signatures(self):
        """Parameter types of each specialization, as texts."""
        if self.eager:
            self.finish_eager()
        return [tuple(s.artifact.info["params"]) for s in self.dispatcher.specializations]

    @property
    def nopython_signatures(self):
        if self.eager:
            self.finish_eager()
        return [s.signature for s in self.dispatcher.specializations]

    @property
    def overloads(self):
        return {tuple(s.artifact.info["params"]): s for s in self.dispatcher.specializations}

    @property
    def stats(self):
        """Specializations that came from the cache, and that were compiled."""
        from collections import namedtuple
        return namedtuple("Stats", "cache_hits cache_misses")(self.hits, self.misses)

    def install(self, made, signature):
        self.asked[tuple(made.artifact.info["params"])] = signature
        self.dispatcher.add(made)

    def compile(self, signature):
        """Compile for a signature ("float64(int64)", a types.Signature or a tuple of types) now. RuntimeError after
        disable_compile()."""
        if isinstance(signature, tuple):
            signature = f"({', '.join(map(str, signature))})"
        if self.eager:
            self.finish_eager()
        if self.closed:
            raise RuntimeError("compilation disabled")
        made = self.build(str(signature))
        self.install(made, str(signature))
        return made

    def disable_compile(self, val=True):
        """Make no new specializations: calls convert their arguments to what there is."""
        self.closed = bool(val)
        self.dispatcher.disable(val)

    def recompile(self):
        """Make all specializations anew, with the globals as they are now."""
        if self.eager:
            self.finish_eager()
        texts = []
        for s in self.dispatcher.specializations:
            params = tuple(s.artifact.info["params"])
            # numbers of user types are the old module's: what was asked names the classes themselves
            texts.append(s.data.asked if s.data.numbers else self.asked.get(params, f"({', '.join(params)})"))
        self.dispatcher.clear()
        self.frozen = {}
        for text in texts:
            self.dispatcher.add(self.build(text))

    def inspect(self, emit, signature=None):
        """Another form of the specializations' code: {signature: text}, or one text."""
        texts = {}
        for s in self.dispatcher.specializations:
            params = tuple(s.artifact.info["params"])
            if signature is None or tuple(map(str, signature)) == params:
                request, _ = self.request(s.data, f"({', '.join(params)})", emit)
                texts[params] = client().compile("kir", **request).bytes().decode()
        if signature is None:
            return texts
        if not texts:
            raise KeyError(f"there is no specialization for {signature}")
        return next(iter(texts.values()))

    def inspect_llvm(self, signature=None):
        """Optimized LLVM IR."""
        return self.inspect("llvm-opt", signature)

    def inspect_asm(self, signature=None):
        return self.inspect("asm", signature)

    def inspect_types(self, file=None, signature=None, **ignored):
        """Print the typed IR of each specialization."""
        texts = self.inspect("typed") if signature is None else {signature: self.inspect("typed", signature)}
        for params, text in texts.items():
            print(f"{self.py_func.__qualname__}({', '.join(map(str, params))})\n{text}", file=file or sys.stdout)


def _by_name(module, qualname):
    import importlib
    found = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def _reduce(dispatcher):
    f = dispatcher.py_func
    if "<locals>" in f.__qualname__:
        raise TypeError(f"{f.__qualname__} is defined inside a function and can't be pickled")
    return _by_name, (f.__module__, f.__qualname__)


copyreg.pickle(_kiln.Dispatcher, _reduce)


def decorate(py_func, options, signatures=(), plain=False):
    made = Function(py_func, Options(options), signatures)
    made.plain = plain
    return made.dispatcher
