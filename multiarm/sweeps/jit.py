"""The two decorators of compiled code, and a kernel cache that cannot go stale.

`kernel` marks what is called from Python or from a user's own compiled code; `value` marks the small functions on
tuples that disappear into kernels. Numba's own on-disk cache watches only the file of the function it compiled, not the
files of the functions that were inlined into it. Here the cache folder is named after a digest of every source file of
this package, so an edit anywhere leads to an empty folder and a fresh compilation.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numba.core import caching
from numba.core.errors import TypingError

__all__ = ["cache_folder", "kernel", "long_kernel", "source_digest", "step", "value", "woven"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Fused multiply-add is the only liberty taken: it rounds once instead of twice. IEEE otherwise.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}
# What the arrays of kernels hold where it is not float64, by the names of the arguments.
NOT_FLOAT = dict.fromkeys(("tree", "loop", "whole", "orders", "moves"), (np.int64,)) | {"prescribed": (np.bool_,)}
SOURCES = Path(__file__).resolve().parent
KEEP_DAYS = 30


@cache
def source_digest(folder: Path = SOURCES) -> str:
    """Digest of every Python file in `folder`, the compiler options included."""
    digest = hashlib.sha256(repr(sorted(OPTIONS.items(), key=str)).encode())
    for source in sorted(folder.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """Where compiled kernels are kept: ``MULTIARM_CACHE_DIR``, or the user's cache folder."""
    if chosen := os.environ.get("MULTIARM_CACHE_DIR"):
        return Path(chosen)
    try:
        home = Path.home()
    except RuntimeError:  # a user without a home: the kernels live as long as the temporary folder does
        return Path(tempfile.gettempdir()) / f"multiarm-{os.getuid()}"
    places = {"win32": ("LOCALAPPDATA", home / "AppData" / "Local"), "darwin": ("", home / "Library" / "Caches")}
    variable, usual = places.get(sys.platform, ("XDG_CACHE_HOME", home / ".cache"))
    return Path(os.environ.get(variable) or usual) / "multiarm"


def cache_folder() -> Path:
    """The folder of the kernels compiled from the present sources."""
    return cache_root() / f"kernels-{source_digest()}"


def _forget_old_folders(current: Path) -> None:
    """Remove the kernels of other versions that nobody has written to for a month."""
    oldest = time.time() - KEEP_DAYS * 86400
    for folder in current.parent.iterdir():
        ours = re.fullmatch(r"kernels-[0-9a-f]{16}", folder.name) and folder != current
        if ours and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


class _Locator(caching._CacheLocator):
    """Tells Numba where a kernel's machine code lives and which sources it belongs to."""

    def __init__(self, line: int) -> None:
        self._line = line

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return source_digest()

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_func.__code__.co_firstlineno)


class _CacheImplementation(caching.CompileResultCacheImpl):
    _locator_classes: Any = (_Locator,)


class _KernelCache(caching.FunctionCache):
    """Numba's function cache in our folder; says once that compiling takes a while, and works without a disk."""

    _impl_class = _CacheImplementation
    _announced = False

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super()._load_overload(sig, target_context)
        except (OSError, EOFError, pickle.UnpicklingError):  # unreadable folder, or a file cut short by a full disk
            found = None
        if found is None and not _KernelCache._announced:
            _KernelCache._announced = True
            print("multiarm: compiling kernels, once per machine and version", file=sys.stderr, flush=True)
        return found

    def _save_overload(self, sig: Any, data: Any) -> None:
        try:
            super()._save_overload(sig, data)
            _forget_old_folders(cache_folder())
        except OSError as error:
            print(f"multiarm: kernels cannot be cached in {self.cache_path} ({error})", file=sys.stderr, flush=True)
            self.disable()


def long_kernel(function: Callable[..., Any]) -> Callable[..., int]:
    """A kernel that runs for long: other threads of Python go on meanwhile."""
    return _kernel(function, nogil=True)


def kernel(function: Callable[..., Any]) -> Callable[..., int]:
    """Compile `function` on first call and keep the machine code on disk."""
    return _kernel(function)


def _kernel(function: Callable[..., Any], **options: Any) -> Callable[..., int]:
    if Path(function.__code__.co_filename).resolve().parent != SOURCES:
        raise ImportError(f"kernel {function.__name__} must live in {SOURCES}, whose digest keys the cache")
    dispatcher = njit(**OPTIONS, **options)(function)
    if dispatcher is function:  # NUMBA_DISABLE_JIT: plain Python, for debugging
        return function
    dispatcher._cache = _KernelCache(function)
    compile_for = dispatcher._compile_for_args

    def compile_if_plain(*args: Any, **kwargs: Any) -> Any:
        # called only for types not met before, so it costs nothing in a loop
        _require_plain_arrays(function, args)
        try:
            return compile_for(*args, **kwargs)
        except TypingError as error:
            arrays = [x for x in args if isinstance(x, np.ndarray)]
            kinds = ", ".join(f"{x.ndim}-D{'' if x.flags.writeable else ' read-only'}" for x in arrays)
            raise TypeError(
                f"{function.__name__}{signature(function)} cannot take arrays that are {kinds}: "
                f"vectors are 1-D, matrices 2-D, and what is written to must be writable"
            ) from error

    dispatcher._compile_for_args = compile_if_plain
    return dispatcher


def _require_plain_arrays(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Refuse what would compile but mislead: an integer `out` truncates, a strided array or a list costs seconds."""
    for name, x in zip(signature(function).parameters, args, strict=False):
        if isinstance(x, bool | int | float | tuple):
            continue
        types = NOT_FLOAT.get(name, (np.float64,))
        if not isinstance(x, np.ndarray) or x.dtype not in types or not x.flags.c_contiguous:
            found = f"{x.dtype} with strides {x.strides}" if isinstance(x, np.ndarray) else type(x).__name__
            raise TypeError(
                f"{function.__name__}: {name} must be a contiguous array of {np.dtype(types[0]).name}, not {found}"
            )


def value(function: Function) -> Function:
    """Compile a small function on values into whatever kernel calls it."""
    return njit(forceinline=True, **OPTIONS)(function)


def woven(function: Function) -> Function:
    """Copy a function into whatever calls it, before compilation.

    For the outer layers of large kernels: every function that is compiled on its own costs another optimisation of all
    that it calls.
    """
    return njit(inline="always", **OPTIONS)(function)


def step(function: Function) -> Function:
    """Compile a function on tables that kernels share; not inlined by force, for it is long and called seldom."""
    return njit(**OPTIONS)(function)
