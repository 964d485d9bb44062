"""Expressions whose types Numba is asked for: `python -m tools.verdicts` stores them.

Each entry is a list of expressions and a list of what the names in them are: types as
Numba writes them, for a, b, c in this order.
"""

from itertools import product

HEAD = """import math

import numpy as np
from numba import (boolean, cuda, float32, float64, int8, int16, int32, int64, types,
                   uint8, uint16, uint32, uint64)
"""

NUMBERS = ["boolean", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
           "uint64", "float16", "float32", "float64"]
COMMON = ["boolean", "int32", "int64", "uint32", "uint64", "float32", "float64"]
PAIRED = [name for name in NUMBERS if "16" not in name or name == "float16"]
PAIRS = [f"{a}, {b}" for a, b in product(PAIRED, PAIRED)]
FEW = [f"{a}, {b}" for a, b in product(COMMON, COMMON)]
MIXED = ["float32, int32, boolean", "float32, float64, boolean",
         "int32, uint32, boolean", "int64, uint64, boolean", "boolean, int64, boolean",
         "none, int64, boolean", "none, float32, boolean", "float16, float32, boolean",
         "UniTuple(int64, 2), int64, boolean", "int64, int64, boolean",
         "UniTuple(int64, 2), UniTuple(float64, 2), boolean",
         "float32[::1], float32[:], boolean", "float32[::1], float64[::1], boolean",
         "float32[::1], float32[:, ::1], boolean"]

OPERATORS = ["a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a ** b", "a & b",
             "a << b", "a < b"]
RARER = ["a | b", "a ^ b", "a >> b", "a == b", "a != b", "a and b", "a or b",
         "min(a, b)", "max(a, b)", "divmod(a, b)", "pow(a, b)", "math.pow(a, b)",
         "math.fmod(a, b)", "math.atan2(a, b)", "math.hypot(a, b)",
         "math.copysign(a, b)", "math.ldexp(a, b)", "math.gcd(a, b)", "a is b",
         "(a, b)", "cuda.selp(a < b, a, b)", "min(a, b, 3)", "np.minimum(a, b)",
         "math.remainder(a, b)", "a if a < b else b", "np.float32(a) + b",
         "float32(a) * b", "a in (b, 1)"]
WITH_LITERALS = ["a + 1", "1 - a", "a * 2", "a / 2", "1 / a", "a // 2", "a % 2",
                 "a ** 2", "2 ** a", "a + 0.5", "a * 0.5", "a ** 0.5", "a ** -1",
                 "a & 1", "a << 1", "1 << a", "a < 1", "a + True", "min(a, 1)",
                 "min(a, 1.0)", "max(0, a)", "max(0.0, a)", "a + 2147483648",
                 "a + 9223372036854775807", "a + 9223372036854775808",
                 "a + 18446744073709551615", "a if a else 0", "a if a else 0.0",
                 "a and 1", "a or 1", "a if a else None", "a and None", "a == None",
                 "a is None", "a * 1j", "0 < a < 3", "a // 0", "a % 0"]
OF_ONE = ["-a", "+a", "~a", "not a", "abs(a)", "int(a)", "float(a)", "bool(a)",
          "round(a)", "round(a, 2)", "float32(a)", "int32(a)", "int64(a)", "float64(a)",
          "uint8(a)", "np.float32(a)", "np.int32(a)", "types.float16(a)", "boolean(a)",
          "np.sqrt(a)", "np.exp(a)", "np.abs(a)", "complex(a)", "str(a)", "hash(a)",
          "min(a)", "min(a, a, a)", "sum((a, a))", "len((a, a))", "(a, a)[0]",
          "(a, 1)[1]", "[a][0]", "range(a)", "type(a)", "a.real", "np.int64(a)",
          "np.bool_(a)", "isinstance(a, int)", "math.fabs(a)"]
MATHS = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos",
         "cosh", "degrees", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "factorial",
         "floor", "frexp", "gamma", "isfinite", "isinf", "isnan", "isqrt", "lgamma",
         "log", "log10", "log1p", "log2", "modf", "radians", "sin", "sinh", "sqrt",
         "tan", "tanh", "trunc"]
NAMED = ["math.pi", "math.inf", "math.nan", "np.pi", "np.inf", "0", "1.5", "True",
         "None", "1e3", "10**400", "1_000", "0x10", "'a'", "b'a'", "1j", "2147483648",
         "-1", "9223372036854775808", "18446744073709551616", "()", "(1, 2.0)",
         "[1, 2]", "{1: 2}", "{1, 2}", "...", "f'{1}'", "np.float32(0.5)", "float32(1)",
         "int32(2.7)", "float32", "cuda.threadIdx", "cuda.threadIdx.x",
         "cuda.blockIdx.y", "cuda.blockDim.x", "cuda.gridDim.z", "cuda.grid(1)",
         "cuda.grid(2)", "cuda.grid(3)", "cuda.gridsize(1)", "cuda.gridsize(2)",
         "cuda.laneid", "cuda.warpsize", "cuda.syncthreads()", "cuda.syncwarp()",
         "cuda.threadfence()", "cuda.activemask()", "cuda.lanemask_lt()", "range(3)",
         "3 + 4", "3 / 4", "7 // 2", "2 ** 3", "2 ** -3", "-7 % 3", "1 << 40",
         "True + True", "True & True", "not 1", "1 < 2",
         "cuda.shared.array(4, float32)", "cuda.local.array((2, 2), int32)",
         "cuda.shared.array(0, float32)", "min(1, 2.0)", "max(1, 2)", "abs(-3)",
         "cuda.grid(0)", "cuda.grid(4)", "cuda.threadIdx.w", "math.e", "math.tau",
         "cuda.grid(1.0)", "cuda.grid(True)", "cuda.gridsize(2.0)", "__debug__"]
OF_ARRAYS = ["a[0]", "a[0] + 1", "a[0] * 0.5", "a[0] / 2", "a[0] ** 2", "-a[0]",
             "len(a)", "a.shape", "a.shape[0]", "a.size", "a.ndim", "a.dtype", "a.T",
             "a[0:2]", "a[::2]", "a[0, 0]", "a[0][0]", "a[-1]", "a[0.0]", "a[True]",
             "a[...]", "a[None]", "a[:, 0]", "a[0, :]", "a + a", "a * 2", "a @ a",
             "a.sum()", "a.copy()", "a.strides", "a.itemsize", "a.nbytes", "a.flat[0]",
             "a.mean()", "a.ravel()", "a.reshape(4)", "a.astype(np.float32)",
             "a.view(np.int32)", "a is a", "a == a", "a.item()", "a[cuda.threadIdx.x]",
             "a[(0, 0)]", "a[()]", "a[np.int32(0)]", "a.max()", "a.transpose()",
             "len(a.shape)", "a.flags", "np.sum(a)", "np.dot(a, a)", "np.exp(a)",
             "sum(a)", "max(a)", "a.fill(0)", "math.exp(a[0])", "a[0] if len(a) else 0",
             "a[0] if len(a) else 0.0", "math.sqrt(a[0]) * 2",
             "1 / math.sqrt(a.shape[0])", "a[0] == 0", "min(a[0], 0)",
             "max(a[0], -math.inf)", "a[0] * math.log2(math.e)", "float32(0.5) * a[0]",
             "float32(1 / math.sqrt(len(a)))", "int(a[0])", "a.dtype(3)",
             "a.dtype.type(3)", "cuda.const.array_like(a)"]
ATOMICS = ["cuda.atomic.add(a, 0, 1)", "cuda.atomic.add(a, 0, 1.5)",
           "cuda.atomic.sub(a, 0, 1)", "cuda.atomic.max(a, 0, 1)",
           "cuda.atomic.min(a, 0, 1)", "cuda.atomic.nanmax(a, 0, 1)",
           "cuda.atomic.nanmin(a, 0, 1)", "cuda.atomic.and_(a, 0, 1)",
           "cuda.atomic.or_(a, 0, 1)", "cuda.atomic.xor(a, 0, 1)",
           "cuda.atomic.inc(a, 0, 1)", "cuda.atomic.dec(a, 0, 1)",
           "cuda.atomic.exch(a, 0, 1)", "cuda.atomic.cas(a, 0, 1, 2)",
           "cuda.atomic.compare_and_swap(a, 1, 2)", "cuda.atomic.add(a, (0,), 1)",
           "cuda.atomic.add(a, 0)", "cuda.atomic.add(a[0], 0, 1)",
           "cuda.atomic.add(a, 0.5, 1)", "cuda.atomic.add(a, (0, 0), 1)"]
SHUFFLES = ["cuda.shfl_sync(-1, a, 0)", "cuda.shfl_sync(0xffffffff, a, 0)",
            "cuda.shfl_xor_sync(-1, a, 1)", "cuda.shfl_up_sync(-1, a, 1)",
            "cuda.shfl_down_sync(-1, a, 1)", "cuda.ballot_sync(-1, a)",
            "cuda.all_sync(-1, a)", "cuda.any_sync(-1, a)", "cuda.eq_sync(-1, a)",
            "cuda.match_any_sync(-1, a)", "cuda.match_all_sync(-1, a)",
            "cuda.syncthreads_count(a)", "cuda.syncthreads_and(a)",
            "cuda.syncthreads_or(a)", "cuda.popc(a)", "cuda.clz(a)", "cuda.ffs(a)",
            "cuda.brev(a)", "cuda.fma(a, a, a)", "cuda.cbrt(a)",
            "cuda.selp(True, a, a)", "cuda.syncwarp(a)", "cuda.nanosleep(a)",
            "cuda.selp(a, 1, 2)", "cuda.shfl_sync(a, 1.5, 0)", "cuda.grid(a)",
            "cuda.fp16.hadd(a, a)"]
SPELLED = ("byte ubyte char uchar short ushort intc uintc int_ uint long long_ ulong"
           " longlong ulonglong half single double intp uintp ssize_t size_t bool bool_"
           " boolean float_ f2 f4 i8 u1 b1").split()
CODES = SPELLED + "int float i f d e b B h H I l L q Q ? F <f4 =i >f4 str".split()
CHOICES = ["a if c else b", "(a if c else b) + 1", "a and b", "a or b"]

ASKED = [
    (OPERATORS, PAIRS),
    (RARER, FEW),
    (WITH_LITERALS + OF_ONE + SHUFFLES, NUMBERS),
    ([f"math.{name}(a)" for name in MATHS], NUMBERS),
    (NAMED + [f"cuda.local.array(4, '{name}')" for name in CODES], [""]),
    ([f"{module}.{name}(a)" for module in ("np", "types") for name in SPELLED],
     ["int32"]),
    (OF_ARRAYS, ["float32[::1]", "float32[:, ::1]", "float64[::1]", "int32[::1]",
                 "float16[::1]", "float32[:]"]),
    (ATOMICS, [f"{name}[::1]" for name in NUMBERS]),
    (CHOICES, MIXED),
]
