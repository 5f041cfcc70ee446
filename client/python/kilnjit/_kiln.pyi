# SPDX-License-Identifier: Apache-2.0
"""`kilnjit._kiln`, the C extension: requests to the daemon, loading, and the fast way into compiled code.

Everything here may be called from any thread. Waiting releases the GIL and looks at signals every 50 ms or
sooner. Nothing imports numpy; it is picked up once the program has imported it."""
from collections.abc import Callable, Mapping, Sequence
from typing import Any

VERSION: str
ABI_VERSION: int
#: err.def: name -> (number, class name in kilnjit.errors, text)
CODES: Mapping[str, tuple[int, str, str]]
#: exceptions.def: number -> class name
EXCEPTIONS: Mapping[int, str]
#: first class_id of user classes: EXC_USER + index of the module's EXCEPTION constant
EXC_USER: int
#: marks "no default" in Dispatcher(defaults=...)
MISSING: object

#: (code, message, function, node, hint, [(message, function, node), ...]); -1: no place; hint may be ""
Diagnostic = tuple[int, str, int, int, str, list[tuple[str, int, int]]]

def set_error_factory(factory: Callable[..., BaseException] | None) -> None:
    """How failures of the daemon or of loading become exceptions.

    factory(code: int, name: str, message: str, function: int, node: int, hint: str,
            diagnostics: list[Diagnostic], retry_ms: int, sys: int) returns the exception, which is then raised.
    Without one, RuntimeError is raised. KeyboardInterrupt and MemoryError never go through it."""

def digest(data: bytes | bytearray | memoryview) -> bytes:
    """BLAKE2b-256, 32 bytes."""

def pack_kir(value: Any) -> bytes:
    """msgpack of nested lists or tuples of int (64 bits, signed or unsigned), str, bytes, float, bool, None.

    Integers take their shortest form, floats 64 bits: equal values give equal bytes. TypeError for other
    types, OverflowError for wider integers, ValueError past 64 levels."""

def typeof(value: Any, numba: bool = False) -> str | None:
    """Canonical type text of an argument, as the dispatcher sees it; None where it has none.

    numba=False: bool, pyint, pyfloat, pycomplex for Python scalars. numba=True: bool, int64 (uint64 past its
    range), float64, complex128. NumPy scalars and arrays by dtype; tuples by item. Named tuples, members of enums and
    compiled functions with "@" and a number of their class or themselves. OverflowError for ints past 64 bits."""

def object_of(serial: int) -> Any:
    """The class or compiled function whose number stands behind "@" in a text of typeof()."""

def accept_array_type(cls: type) -> None:
    """Treat this subclass of numpy.ndarray (at most 16 of them) as a plain array: numpy.memmap, for example."""

def target_default() -> str: ...
def target_resolve(name: str | None) -> str:
    """"" or None: this machine's level; "native": its features; anything else as it is."""

def counts() -> dict[str, int]:
    """mem_live, mem_bytes, mem_total, libraries_live, loads_total of this process, for tests of leaks."""

def set_threads(n: int) -> int:
    """Threads of parallel loops, the caller included; 0: one a CPU. Returns the number in use."""

class Client:
    """A connection that is made at the first request and again after a fork or a restart of the daemon."""

    def __init__(self, socket: str | None = None, *, start: bool = True, timeout_ms: int = 0,
                 daemon: str | None = None,
                 resolve: Callable[[int, list[str]], bytes | None] | None = None) -> None:
        """`daemon`: the program to start when none answers (KILN_DAEMON goes first)."""
    def compile(self, kind: str, body: bytes | Callable[[], bytes], signature: str, *, digest: bytes | None = None,
                env: Sequence[str] = (), entry: str = "", target: str = "", emit: str = "so", flags: int = 0,
                semantics: str = "python", checked: bool = False, debug: bool = False, nocontract: bool = False,
                symbol: str | None = None, positions: bytes | None = None, deadline_ms: int = 0,
                want_inline: bool = False, private: bool = False) -> Artifact:
        """kind "kir" or "bitcode". A callable body is only called when the daemon lacks the entry (needs digest).

        target "": this machine's level. Ctrl-C cancels and raises KeyboardInterrupt within 0.1 s."""
    def submit(self, kind: str, body: bytes | Callable[[], bytes], signature: str, **options: Any) -> Pending:
        """compile() in two halves: for eager signatures. The same arguments."""
    def lookup(self, requests: Sequence[Mapping[str, Any]]) -> list[tuple[bool, bytes, int]]:
        """(known, key, size) for each of {"kind", "digest", "signature", and options as for compile}."""
    def get(self, key: bytes, *, want_inline: bool = False) -> Artifact: ...
    def server(self) -> dict[str, Any]:
        """socket version protocol pid uid kir_min kir_max toolchain; connects."""
    def status(self) -> dict[str, Any]: ...
    def stats(self) -> dict[str, int]: ...
    def list(self, *, entry: str | None = None, target: str | None = None, limit: int = 0,
             after: bytes | None = None) -> tuple[list[dict[str, Any]], bool]:
        """(rows, more). Rows have key (bytes) entry signature target emit bytes compile_us created last_used hits owner."""
    def show(self, key: bytes) -> dict[str, Any]:
        """A row, with manifest, ir, ir_digest, toolchain (bytes) and options (str) where given."""
    def purge(self, *, keys: Sequence[bytes] = (), entry: str | None = None, all: bool = False, unused_s: int = 0,
              dry_run: bool = False) -> tuple[int, int]:
        """(entries, bytes)."""
    def stop(self, now: bool = False) -> None: ...
    def close(self) -> None:
        """Close the connection; the next request makes a new one."""

class Pending:
    def result(self) -> Artifact:
        """Wait for the answer, once or again. Raises as Client.compile."""
    def done(self) -> bool: ...
    def cancel(self) -> None: ...

class Artifact:
    key: bytes
    source: str       # "memory" "disk" "compiled" "joined" ""
    size: int
    compile_us: int
    manifest: bytes   # msgpack
    #: decoded: entry signature ret target glibc params env isa symbol
    info: dict[str, Any]
    def bytes(self) -> bytes: ...
    def load(self) -> Library:
        """Check CPU and key, map, bind. KilnLoadError."""

def artifact(key: bytes, data: bytes, manifest: bytes | None = None) -> Artifact:
    """An Artifact from bytes at hand."""

class Library:
    key: bytes
    entry: int  # address of kiln_entry, 0 if there is none
    def symbol(self, name: str) -> int:
        """Address of an exported symbol; KilnNotFound."""

class Specialization:
    """One loaded specialization, ready to be installed in a Dispatcher or called."""

    signature: str   # "ret(params)"
    library: Library
    artifact: Artifact
    data: Any

    def __init__(self, artifact: Artifact, *, params: Sequence[str], ret: str, env_types: Sequence[str] = (),
                 env: Sequence[Any] = (), nogil: bool = False, parallel: bool = False,
                 raise_hook: Callable[[int, type | None, tuple, list[tuple[int, int]], Specialization],
                                      BaseException] | None = None,
                 data: Any = None, numba: bool = False, classes: tuple = (), functions: tuple = ()) -> None:
        """Loads the artifact. Results of sized types (float32, int64, ...) are NumPy scalars, as NumPy returns them, and
        of weak ones (pyint, pyfloat, pycomplex, bool) Python's; numba=True: Python's for all.

        params: the type of each parameter, in order; env: the arrays of the environment's
        slots, read at each call (live) and held; parallel: the GIL is released, as with nogil.

        raise_hook(class_id, cls, args, trace, self) returns the exception that the call raises. cls: the class where
        exceptions.def names it, else None (user's). args: ready, templates filled in. trace: (function, node),
        innermost first. Its __traceback__ is kept. Without a hook a plain exception is raised.
        `data` is the hook's: position tables and such."""
    def __call__(self, *args: Any) -> Any:
        """Call with arguments of exactly the stated types (TypeError otherwise)."""

class Dispatcher:
    """The callable that a decorated function becomes. Not to be subclassed: attributes that are not found here
    are looked up on `owner`, and `__dict__` takes __name__, __doc__, __wrapped__ and so on.

    It binds as a method like a function does. Calls with known argument types make no Python objects."""

    owner: Any
    specializations: list[Specialization]

    def __init__(self, name: str, params: Sequence[str], kinds: Sequence[int], defaults: Sequence[Any],
                 compile_for: Callable[[tuple, tuple[str | None, ...]], Specialization | Callable[..., Any]],
                 *, numba: bool = False, owner: Any = None) -> None:
        """params: names in order, kinds as in KIR (1 positional-only, 2 normal, 3 *args, 4 keyword-only), defaults:
        values or MISSING, one a parameter. A *args parameter gets a tuple, as one argument.

        compile_for(args, types) is called when no specialization fits, once for threads that want the same.
        args: bound, one a parameter, defaults filled in; types: as typeof(), None where an argument has no type.
        Returns a Specialization, which is kept and called, or another callable (KILN_FALLBACK=python), which is
        called with the arguments and not kept."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def add(self, specialization: Specialization) -> None:
        """Install one (eager signatures) whose params are known types: later calls find it without compile_for."""
    def find(self, *args: Any) -> Specialization | None: ...
    def clear(self) -> None:
        """Drop all specializations (recompile)."""
    def disable(self, off: bool = True) -> None:
        """No new specializations: a call that fits none converts its arguments to the first one installed that
        takes them safely (ints to floats, float32 to float64, ...) or raises TypeError naming those there are."""
