"""Helper functions in WGSL, for operations that it has no expression for."""

WARP = 32
# An integer division by 0 gives 0, as in the simulator.
QUOTIENT = """fn quotient(a: i32, b: i32) -> i32 {
  if (b == 0) { return 0; }
  let q = a / b;
  return select(q, q - 1, q * b != a && (a < 0) != (b < 0));
}"""
# On some drivers % of a negative number is wrong.
REST = """fn rest(a: i32, b: i32) -> i32 {
  return select(a - quotient(a, b) * b, 0, b == 0);
}"""
UNSIGNED_QUOTIENT = """fn unsigned_quotient(a: u32, b: u32) -> u32 {
  if (b == 0u) { return 0u; }
  return a / b;
}"""
UNSIGNED_REST = """fn unsigned_rest(a: u32, b: u32) -> u32 {
  if (b == 0u) { return 0u; }
  return a % b;
}"""
ORDER = """fn order(a: i32, b: u32) -> i32 {
  if (a < 0) { return -1; }
  return i32(u32(a) > b) - i32(u32(a) < b);
}"""
# The quotient of floats may be rounded up to an integer; the remainder corrects this.
REAL_QUOTIENT = """fn real_quotient(a: f32, b: f32) -> f32 {
  let q = floor(a / b);
  let left = fma(-q, b, a) * sign(b);
  return q + select(0f, 1f, left >= abs(b)) - select(0f, 1f, left < 0f);
}"""
REAL_REST = """fn real_rest(a: f32, b: f32) -> f32 {
  return fma(-real_quotient(a, b), b, a);
}"""
WHOLE_POWER = """fn whole_power(a: i32, b: i32) -> i32 {
  if (b < 0) { return select(0, select(1, a, (b & 1) != 0), abs(a) == 1); }
  var found = 1;
  var base = a;
  for (var left = b; left > 0; left >>= 1u) {
    if ((left & 1) != 0) { found *= base; }
    base *= base;
  }
  return found;
}"""
POWER_OF_WHOLE = """fn power_of_whole(a: f32, b: i32) -> f32 {
  var found = 1f;
  var base = a;
  for (var left = abs(b); left > 0; left >>= 1u) {
    if ((left & 1) != 0) { found *= base; }
    base *= base;
  }
  return select(found, 1f / found, b < 0);
}"""
REAL_POWER = """fn real_power(a: f32, b: f32) -> f32 {
  let size = select(pow(abs(a), b), 1f, b == 0f);
  if (a >= 0f) { return size; }
  if (b != floor(b)) { return P.nan; }
  return select(size, -size, real_rest(b, 2f) == 1f);
}"""
LEFT = """fn left(a: i32, by: i32) -> i32 {
  return select(a << (u32(by) & 31u), 0, u32(by) > 31u);
}"""
RIGHT = """fn right(a: i32, by: i32) -> i32 {
  return a >> min(u32(by), 31u);
}"""
UNSIGNED_RIGHT = """fn unsigned_right(a: u32, by: i32) -> u32 {
  return select(a >> (u32(by) & 31u), 0u, u32(by) > 31u);
}"""
IS_NAN = """fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}"""
SIGNED_LIKE = """fn signed_like(x: f32, y: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(y) & 0x80000000u));
}"""
# Shuffles through shared memory. The two halves of `hand` are used in turn, so that one
# barrier between `put` and `taken` is enough. That barrier is written in the kernel, at the
# reader's line.
HAND = """var<workgroup> hand: array<u32, {twice}>;
var<private> turn: u32;
fn put(v: u32) {
  turn = {threads}u - turn;
  hand[turn + lane] = v;
}
fn taken(source: i32) -> u32 {
  return hand[turn + min((lane & ~31u) + (u32(source) & 31u), {last}u)];
}"""
# Shuffles among the threads of a subgroup, which may be larger than a warp.
IN_STEP = """var<private> seat: u32;
fn shuffled(v: u32, source: i32) -> u32 {
  return subgroupShuffle(v, (seat & ~31u) + (u32(source) & 31u));
}"""
VOTED = """fn voted() -> u32 {
  let first = lane & ~31u;
  var found = 0u;
  for (var k = 0u; k < min(32u, {threads}u - first); k += 1u) {
    found |= hand[turn + first + k] << k;
  }
  return found;
}"""
MATCHED = """fn matched(v: u32) -> u32 {
  let first = lane & ~31u;
  var found = 0u;
  for (var k = 0u; k < min(32u, {threads}u - first); k += 1u) {
    found |= select(0u, 1u, hand[turn + first + k] == v) << k;
  }
  return found;
}"""
PRESENT = """fn present() -> u32 {
  return 0xffffffffu >> (32u - min(32u, {threads}u - (lane & ~31u)));
}"""
COUNTED = """var<workgroup> votes: atomic<u32>;
var<workgroup> told: u32;
fn count_anew() {
  if (lane == 0u) { atomicStore(&votes, 0u); }
}
fn counted(p: bool) -> i32 {
  if (p) { atomicAdd(&votes, 1u); }
  workgroupBarrier();
  if (lane == 0u) { told = atomicLoad(&votes); }
  return i32(workgroupUniformLoad(&told));
}"""
HELPERS = {
    "quotient": (QUOTIENT, ()),
    "rest": (REST, ("quotient",)),
    "unsigned_quotient": (UNSIGNED_QUOTIENT, ()),
    "unsigned_rest": (UNSIGNED_REST, ()),
    "order": (ORDER, ()),
    "real_quotient": (REAL_QUOTIENT, ()),
    "real_rest": (REAL_REST, ("real_quotient",)),
    "whole_power": (WHOLE_POWER, ()),
    "power_of_whole": (POWER_OF_WHOLE, ()),
    "real_power": (REAL_POWER, ("real_rest",)),
    "left": (LEFT, ()),
    "right": (RIGHT, ()),
    "unsigned_right": (UNSIGNED_RIGHT, ()),
    "is_nan": (IS_NAN, ()),
    "signed_like": (SIGNED_LIKE, ()),
    "hand": (HAND, ()),
    "in_step": (IN_STEP, ()),
    "voted": (VOTED, ("hand",)),
    "matched": (MATCHED, ("hand",)),
    "present": (PRESENT, ()),
    "counted": (COUNTED, ()),
}
# For one array each: {array} is its name. WGSL has no atomics for floats, and its weak
# compare-and-exchange may fail spuriously, hence the loops.
HALF = """fn half_{array}(i: i32) -> f32 {
  return unpack2x16float({array}[u32(i) >> 1u])[i & 1];
}"""
SWAPPED = """fn swapped_{array}(i: i32, old: {type}, by: {type}) -> {type} {
  var found = old;
  var done = false;
  while (!done) {
    let tried = atomicCompareExchangeWeak(&{array}[i], old, by);
    found = tried.old_value;
    done = tried.exchanged || found != old;
  }
  return found;
}"""
CHANGED = """fn {what}_{array}(i: i32, by: {type}) -> {type} {
  var old = atomicLoad(&{array}[i]);
  var done = false;
  while (!done) {
    let v = {read};
    let tried = atomicCompareExchangeWeak(&{array}[i], old, {new});
    old = tried.old_value;
    done = tried.exchanged;
  }
  return {read};
}"""
NEW = {  # the new value of an element after an atomic; v is the old one
    "add": "v + by",
    "sub": "v - by",
    "max": "max(v, by)",
    "min": "min(v, by)",
    "inc": "select(v + 1u, 0u, v >= by)",
    "dec": "select(v - 1u, by, v == 0u || v > by)",
}
ATOMICS = {  # the atomics that WGSL has, for integers
    "add": "atomicAdd",
    "sub": "atomicSub",
    "max": "atomicMax",
    "min": "atomicMin",
    "and_": "atomicAnd",
    "or_": "atomicOr",
    "xor": "atomicXor",
    "exch": "atomicExchange",
}
